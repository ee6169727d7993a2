DROP TABLE awards;
-- Without their places these would be seen by everybody.
DELETE FROM notes WHERE source_project_id IS NOT NULL;
DROP INDEX notes_of_source_commit;
DROP INDEX notes_of_source_issue;
ALTER TABLE notes DROP COLUMN source_commit;
ALTER TABLE notes DROP COLUMN source_issue_id;
ALTER TABLE notes DROP COLUMN source_project_id;
