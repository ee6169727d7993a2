-- Notes are on an issue, a merge request, or a commit of their project; emoji are given to issues and merge requests. As
-- for roots, the text of the schema is changed where SQLite cannot alter a column: no stored row changes.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'issue_id BIGINT NOT NULL REFERENCES issues', 'issue_id BIGINT REFERENCES issues')
WHERE type = 'table' AND name IN ('notes', 'awards');
PRAGMA writable_schema = RESET;
ALTER TABLE notes ADD COLUMN merge_request_id BIGINT REFERENCES merge_requests (id) ON DELETE CASCADE;
ALTER TABLE notes ADD COLUMN commit_id TEXT
    CHECK ((issue_id IS NOT NULL) + (merge_request_id IS NOT NULL) + (commit_id IS NOT NULL) = 1);
-- Where a note is about a line of the diff of a commit: the path, and the number of an added line. A removed line has
-- none.
ALTER TABLE notes ADD COLUMN path TEXT;
ALTER TABLE notes ADD COLUMN line BIGINT;
CREATE INDEX notes_of_merge_request ON notes (merge_request_id, id) WHERE merge_request_id IS NOT NULL;
CREATE INDEX notes_of_commit ON notes (project_id, commit_id, id) WHERE commit_id IS NOT NULL;

-- Merge requests mention issues, and are mentioned, as issues are. Each pair has one note.
ALTER TABLE notes ADD COLUMN source_merge_request_id BIGINT;
DROP INDEX notes_of_source_issue;
DROP INDEX notes_of_source_commit;
CREATE UNIQUE INDEX notes_on_issue_by_issue ON notes (source_issue_id, issue_id)
    WHERE source_issue_id IS NOT NULL AND issue_id IS NOT NULL;
CREATE UNIQUE INDEX notes_on_merge_request_by_issue ON notes (source_issue_id, merge_request_id)
    WHERE source_issue_id IS NOT NULL AND merge_request_id IS NOT NULL;
CREATE UNIQUE INDEX notes_on_commit_by_issue ON notes (source_issue_id, project_id, commit_id)
    WHERE source_issue_id IS NOT NULL AND commit_id IS NOT NULL;
CREATE UNIQUE INDEX notes_on_issue_by_merge_request ON notes (source_merge_request_id, issue_id)
    WHERE source_merge_request_id IS NOT NULL AND issue_id IS NOT NULL;
CREATE UNIQUE INDEX notes_on_merge_request_by_merge_request ON notes (source_merge_request_id, merge_request_id)
    WHERE source_merge_request_id IS NOT NULL AND merge_request_id IS NOT NULL;
CREATE UNIQUE INDEX notes_on_commit_by_merge_request ON notes (source_merge_request_id, project_id, commit_id)
    WHERE source_merge_request_id IS NOT NULL AND commit_id IS NOT NULL;
CREATE UNIQUE INDEX notes_on_issue_by_commit ON notes (source_commit, source_project_id, issue_id)
    WHERE source_commit IS NOT NULL AND issue_id IS NOT NULL;
CREATE UNIQUE INDEX notes_on_merge_request_by_commit ON notes (source_commit, source_project_id, merge_request_id)
    WHERE source_commit IS NOT NULL AND merge_request_id IS NOT NULL;
CREATE UNIQUE INDEX notes_on_commit_by_commit ON notes (source_commit, source_project_id, project_id, commit_id)
    WHERE source_commit IS NOT NULL AND commit_id IS NOT NULL;

-- What happened to a merge request and its notes goes with it.
ALTER TABLE events ADD COLUMN merge_request_id BIGINT REFERENCES merge_requests (id) ON DELETE CASCADE;
CREATE INDEX events_of_merge_request ON events (merge_request_id) WHERE merge_request_id IS NOT NULL;
-- Events about notes on commits go with the note.
CREATE INDEX events_of_commit_note ON events (target_id)
    WHERE target_type IN ('Note', 'LegacyDiffNote') AND issue_id IS NULL AND merge_request_id IS NULL;

ALTER TABLE awards ADD COLUMN merge_request_id BIGINT REFERENCES merge_requests (id) ON DELETE CASCADE
    CHECK ((issue_id IS NOT NULL) + (merge_request_id IS NOT NULL) = 1);
CREATE UNIQUE INDEX awards_of_merge_request ON awards (merge_request_id, name, user_id)
    WHERE merge_request_id IS NOT NULL;
