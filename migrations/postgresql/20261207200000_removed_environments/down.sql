DELETE FROM environments WHERE removed;
DROP INDEX environments_removed;
ALTER TABLE environments DROP COLUMN removed;
