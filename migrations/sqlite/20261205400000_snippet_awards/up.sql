-- Emoji are also given to snippets. As before, the text of the schema is changed where SQLite cannot alter a constraint.
ALTER TABLE awards ADD COLUMN snippet_id BIGINT REFERENCES snippets (id) ON DELETE CASCADE;
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '(note_id IS NOT NULL) = 1', '(note_id IS NOT NULL) + (snippet_id IS NOT NULL) = 1')
WHERE type = 'table' AND name = 'awards';
PRAGMA writable_schema = RESET;
CREATE UNIQUE INDEX awards_of_snippet ON awards (snippet_id, name, user_id) WHERE snippet_id IS NOT NULL;
CREATE INDEX awards_on_snippet ON awards (snippet_id, id) WHERE snippet_id IS NOT NULL;
