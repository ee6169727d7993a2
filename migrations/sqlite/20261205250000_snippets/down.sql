DELETE FROM events WHERE snippet_id IS NOT NULL;
DROP INDEX events_of_snippet;
ALTER TABLE events DROP COLUMN snippet_id;
DELETE FROM notes WHERE snippet_id IS NOT NULL;
DROP INDEX notes_of_snippet;
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '(commit_id IS NOT NULL) + (snippet_id IS NOT NULL) = 1', '(commit_id IS NOT NULL) = 1')
WHERE type = 'table' AND name = 'notes';
PRAGMA writable_schema = RESET;
ALTER TABLE notes DROP COLUMN snippet_id;
DROP TABLE snippets;
