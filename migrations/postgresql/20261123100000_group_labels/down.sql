-- In projects they stay, as labels of their own.
DROP INDEX labels_used_of_group;
DROP INDEX labels_of_group;
ALTER TABLE labels DROP COLUMN group_label_id;
DROP TABLE group_labels;
