DELETE FROM awards WHERE note_id IS NOT NULL;
DROP INDEX awards_of_user_on_merge_request;
DROP INDEX awards_of_user;
CREATE INDEX awards_of_user ON awards (user_id);
DROP INDEX awards_on_note;
DROP INDEX awards_on_merge_request;
DROP INDEX awards_on_issue;
DROP INDEX awards_of_note;
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '(merge_request_id IS NOT NULL) + (note_id IS NOT NULL) = 1', '(merge_request_id IS NOT NULL) = 1')
WHERE type = 'table' AND name = 'awards';
PRAGMA writable_schema = RESET;
ALTER TABLE awards DROP COLUMN note_id;
