DELETE FROM awards WHERE snippet_id IS NOT NULL;
DROP INDEX awards_on_snippet;
DROP INDEX awards_of_snippet;
ALTER TABLE awards DROP CONSTRAINT awards_on_one;
ALTER TABLE awards ADD CONSTRAINT awards_on_one CHECK (num_nonnulls(issue_id, merge_request_id, note_id) = 1);
ALTER TABLE awards DROP COLUMN snippet_id;
