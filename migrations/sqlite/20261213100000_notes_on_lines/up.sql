-- The number of a removed line in the old file, so that a note is shown below its line.
ALTER TABLE notes ADD COLUMN old_line BIGINT;
-- The notes on lines of a merge request are found without a scan of all notes on it.
CREATE INDEX notes_on_lines ON notes (merge_request_id, id) WHERE merge_request_id IS NOT NULL AND path IS NOT NULL;
