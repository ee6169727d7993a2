DELETE FROM events WHERE snippet_id IS NOT NULL;
DROP INDEX events_of_snippet;
ALTER TABLE events DROP COLUMN snippet_id;
DELETE FROM notes WHERE snippet_id IS NOT NULL;
DROP INDEX notes_of_snippet;
ALTER TABLE notes DROP CONSTRAINT notes_on_one;
ALTER TABLE notes ADD CONSTRAINT notes_on_one CHECK (num_nonnulls(issue_id, merge_request_id, commit_id) = 1);
ALTER TABLE notes DROP COLUMN snippet_id;
DROP TABLE snippets;
