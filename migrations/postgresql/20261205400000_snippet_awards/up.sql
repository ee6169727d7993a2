-- Emoji are also given to snippets.
ALTER TABLE awards ADD COLUMN snippet_id BIGINT REFERENCES snippets (id) ON DELETE CASCADE;
ALTER TABLE awards DROP CONSTRAINT awards_on_one;
ALTER TABLE awards ADD CONSTRAINT awards_on_one
    CHECK (num_nonnulls(issue_id, merge_request_id, note_id, snippet_id) = 1);
CREATE UNIQUE INDEX awards_of_snippet ON awards (snippet_id, name, user_id) WHERE snippet_id IS NOT NULL;
CREATE INDEX awards_on_snippet ON awards (snippet_id, id) WHERE snippet_id IS NOT NULL;
