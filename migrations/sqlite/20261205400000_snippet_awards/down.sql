DELETE FROM awards WHERE snippet_id IS NOT NULL;
DROP INDEX awards_on_snippet;
DROP INDEX awards_of_snippet;
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '(note_id IS NOT NULL) + (snippet_id IS NOT NULL) = 1', '(note_id IS NOT NULL) = 1')
WHERE type = 'table' AND name = 'awards';
PRAGMA writable_schema = RESET;
ALTER TABLE awards DROP COLUMN snippet_id;
