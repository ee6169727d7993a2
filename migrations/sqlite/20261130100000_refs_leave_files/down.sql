DROP INDEX repositories_in_files;
CREATE TABLE settled_changes (
    key TEXT PRIMARY KEY NOT NULL,
    at TIMESTAMP NOT NULL
) WITHOUT ROWID;
CREATE INDEX settled_changes_by_time ON settled_changes (at);
