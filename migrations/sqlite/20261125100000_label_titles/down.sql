DROP INDEX group_labels_in_order;
ALTER TABLE group_labels DROP COLUMN title_start;
DROP INDEX labels_in_order;
ALTER TABLE labels DROP COLUMN title_start;
