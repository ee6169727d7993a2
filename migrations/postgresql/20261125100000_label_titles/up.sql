-- Titles of labels have no longest length, while a row of an index has some 2,700 bytes. So indexes hold where they
-- begin, and a hash of the whole to keep them apart.
ALTER TABLE labels ADD COLUMN title_start TEXT COLLATE "C" NOT NULL GENERATED ALWAYS AS (substr(title, 1, 250)) STORED;
ALTER TABLE labels DROP CONSTRAINT labels_project_id_title_key;
CREATE UNIQUE INDEX labels_project_id_title_key ON labels (project_id, md5(title));
CREATE INDEX labels_in_order ON labels (project_id, title_start);
ALTER TABLE group_labels ADD COLUMN title_start TEXT COLLATE "C" NOT NULL GENERATED ALWAYS AS (substr(title, 1, 250)) STORED;
ALTER TABLE group_labels DROP CONSTRAINT group_labels_group_id_title_key;
CREATE UNIQUE INDEX group_labels_group_id_title_key ON group_labels (group_id, md5(title));
CREATE INDEX group_labels_in_order ON group_labels (group_id, title_start);
