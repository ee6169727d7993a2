DELETE FROM awards WHERE issue_id IS NULL;
DROP INDEX awards_of_merge_request;
ALTER TABLE awards DROP COLUMN merge_request_id;
DELETE FROM events WHERE merge_request_id IS NOT NULL OR target_type IN ('Note', 'LegacyDiffNote') AND issue_id IS NULL;
DROP INDEX events_of_commit_note;
DROP INDEX events_of_merge_request;
ALTER TABLE events DROP COLUMN merge_request_id;
-- Without their places the notes about mentions by merge requests would be seen by everybody.
DELETE FROM notes WHERE issue_id IS NULL OR source_merge_request_id IS NOT NULL;
DROP INDEX notes_on_commit_by_commit;
DROP INDEX notes_on_merge_request_by_commit;
DROP INDEX notes_on_issue_by_commit;
DROP INDEX notes_on_commit_by_merge_request;
DROP INDEX notes_on_merge_request_by_merge_request;
DROP INDEX notes_on_issue_by_merge_request;
DROP INDEX notes_on_commit_by_issue;
DROP INDEX notes_on_merge_request_by_issue;
DROP INDEX notes_on_issue_by_issue;
DROP INDEX notes_of_commit;
DROP INDEX notes_of_merge_request;
ALTER TABLE notes DROP COLUMN source_merge_request_id;
ALTER TABLE notes DROP COLUMN line;
ALTER TABLE notes DROP COLUMN path;
ALTER TABLE notes DROP COLUMN commit_id;
ALTER TABLE notes DROP COLUMN merge_request_id;
CREATE UNIQUE INDEX notes_of_source_issue ON notes (source_issue_id, issue_id)
    WHERE source_issue_id IS NOT NULL;
CREATE UNIQUE INDEX notes_of_source_commit ON notes (source_commit, source_project_id, issue_id)
    WHERE source_commit IS NOT NULL;
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'issue_id BIGINT REFERENCES issues', 'issue_id BIGINT NOT NULL REFERENCES issues')
WHERE type = 'table' AND name IN ('notes', 'awards');
PRAGMA writable_schema = RESET;
