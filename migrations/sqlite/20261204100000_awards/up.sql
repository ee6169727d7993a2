-- Emoji are also given to notes. As for notes, the text of the schema is changed where SQLite cannot alter a column: no
-- stored row changes.
ALTER TABLE awards ADD COLUMN note_id BIGINT REFERENCES notes (id) ON DELETE CASCADE;
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '(merge_request_id IS NOT NULL) = 1', '(merge_request_id IS NOT NULL) + (note_id IS NOT NULL) = 1')
WHERE type = 'table' AND name = 'awards';
PRAGMA writable_schema = RESET;
CREATE UNIQUE INDEX awards_of_note ON awards (note_id, name, user_id) WHERE note_id IS NOT NULL;
-- The lists of awards read these in order.
CREATE INDEX awards_on_issue ON awards (issue_id, id) WHERE issue_id IS NOT NULL;
CREATE INDEX awards_on_merge_request ON awards (merge_request_id, id) WHERE merge_request_id IS NOT NULL;
CREATE INDEX awards_on_note ON awards (note_id, id) WHERE note_id IS NOT NULL;
-- A user takes part in what the user gave an emoji to.
DROP INDEX awards_of_user;
CREATE INDEX awards_of_user ON awards (user_id, issue_id);
CREATE INDEX awards_of_user_on_merge_request ON awards (user_id, merge_request_id)
    WHERE merge_request_id IS NOT NULL;
