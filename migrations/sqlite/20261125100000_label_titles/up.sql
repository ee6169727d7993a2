-- Titles of labels have no longest length. Where they begin is what indexes hold of them in both databases.
ALTER TABLE labels ADD COLUMN title_start TEXT NOT NULL GENERATED ALWAYS AS (substr(title, 1, 250)) VIRTUAL;
CREATE INDEX labels_in_order ON labels (project_id, title_start, title);
ALTER TABLE group_labels ADD COLUMN title_start TEXT NOT NULL GENERATED ALWAYS AS (substr(title, 1, 250)) VIRTUAL;
CREATE INDEX group_labels_in_order ON group_labels (group_id, title_start, title);
