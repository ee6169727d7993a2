-- Notes that tell where an issue was mentioned know that place. It is not referred to by a constraint: what is
-- gone is followed by nobody, and removing it does not touch the notes of other projects.
ALTER TABLE notes ADD COLUMN source_project_id BIGINT;
ALTER TABLE notes ADD COLUMN source_issue_id BIGINT;
ALTER TABLE notes ADD COLUMN source_commit TEXT;
CREATE UNIQUE INDEX notes_of_source_issue ON notes (source_issue_id, issue_id)
    WHERE source_issue_id IS NOT NULL;
CREATE UNIQUE INDEX notes_of_source_commit ON notes (source_commit, source_project_id, issue_id)
    WHERE source_commit IS NOT NULL;

-- Emoji that people gave to issues.
CREATE TABLE awards (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    issue_id BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    UNIQUE (issue_id, name, user_id)
);
CREATE INDEX awards_of_user ON awards (user_id);
