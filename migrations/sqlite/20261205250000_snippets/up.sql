CREATE TABLE snippets (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    -- Null for a personal snippet.
    project_id BIGINT REFERENCES project_roots (id) ON DELETE CASCADE,
    author_id BIGINT NOT NULL REFERENCES user_roots (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    file_name TEXT NOT NULL,
    visibility_level INTEGER NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    content TEXT NOT NULL
);
CREATE INDEX snippets_of_author ON snippets (author_id, id);
CREATE INDEX snippets_of_project ON snippets (project_id, id) WHERE project_id IS NOT NULL;
CREATE INDEX internal_snippets_of_project ON snippets (project_id, id)
    WHERE project_id IS NOT NULL AND visibility_level >= 10;
CREATE INDEX public_snippets_of_project ON snippets (project_id, id)
    WHERE project_id IS NOT NULL AND visibility_level >= 20;
CREATE INDEX personal_snippets ON snippets (author_id, id) WHERE project_id IS NULL;
CREATE INDEX public_snippets ON snippets (id) WHERE project_id IS NULL AND visibility_level = 20;

-- Notes are also on snippets. As before, the text of the schema is changed where SQLite cannot alter a constraint: no
-- stored row changes.
ALTER TABLE notes ADD COLUMN snippet_id BIGINT REFERENCES snippets (id) ON DELETE CASCADE;
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '(commit_id IS NOT NULL) = 1', '(commit_id IS NOT NULL) + (snippet_id IS NOT NULL) = 1')
WHERE type = 'table' AND name = 'notes';
PRAGMA writable_schema = RESET;
CREATE INDEX notes_of_snippet ON notes (snippet_id, id) WHERE snippet_id IS NOT NULL;
ALTER TABLE events ADD COLUMN snippet_id BIGINT REFERENCES snippets (id) ON DELETE CASCADE;
CREATE INDEX events_of_snippet ON events (snippet_id) WHERE snippet_id IS NOT NULL;
