-- Nobody is left who could be told what these were about.
DELETE FROM events WHERE target_type IS NOT NULL;
DROP INDEX events_of_issue;
ALTER TABLE events DROP COLUMN issue_id;
DROP TABLE board_lists;
DROP TABLE boards;
DROP TABLE notes;
DROP TABLE issue_participants;
DROP TABLE issue_subscriptions;
DROP TABLE issue_labels;
DROP TABLE issues;
DROP TABLE milestones;
DROP TABLE label_subscriptions;
DROP TABLE labels;
DROP TABLE iids;
UPDATE projects SET open_issues_count = 0 WHERE open_issues_count <> 0;
