DROP INDEX notes_on_lines;
ALTER TABLE notes DROP COLUMN old_line;
