-- Emoji are also given to notes.
ALTER TABLE awards ADD COLUMN note_id BIGINT REFERENCES notes (id) ON DELETE CASCADE;
ALTER TABLE awards DROP CONSTRAINT awards_on_one;
ALTER TABLE awards ADD CONSTRAINT awards_on_one CHECK (num_nonnulls(issue_id, merge_request_id, note_id) = 1);
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
