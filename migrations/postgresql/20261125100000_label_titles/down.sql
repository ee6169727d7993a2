DROP INDEX group_labels_in_order;
DROP INDEX group_labels_group_id_title_key;
ALTER TABLE group_labels ADD CONSTRAINT group_labels_group_id_title_key UNIQUE (group_id, title);
ALTER TABLE group_labels DROP COLUMN title_start;
DROP INDEX labels_in_order;
DROP INDEX labels_project_id_title_key;
ALTER TABLE labels ADD CONSTRAINT labels_project_id_title_key UNIQUE (project_id, title);
ALTER TABLE labels DROP COLUMN title_start;
