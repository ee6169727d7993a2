-- Labels of groups. Their ids are taken from those of labels: a path names either by one number.
CREATE TABLE group_labels (
    id BIGINT PRIMARY KEY NOT NULL,
    group_id BIGINT NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    color TEXT NOT NULL,
    description TEXT,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    UNIQUE (group_id, title)
);

-- In each project of its group a label has a row of its own, with its counters, priority, subscriptions and list
-- there. A project that has a label of that title itself keeps that.
ALTER TABLE labels ADD COLUMN group_label_id BIGINT REFERENCES group_labels (id) ON DELETE CASCADE;
CREATE INDEX labels_of_group ON labels (group_label_id) WHERE group_label_id IS NOT NULL;
-- What a group's label counts is added up from where it is used.
CREATE INDEX labels_used_of_group ON labels (group_label_id)
    WHERE open_issues + closed_issues + open_confidential + closed_confidential > 0;
