-- An environment with many deployments is marked, and its rows are deleted in steps. Until then no call finds it.
ALTER TABLE environments ADD COLUMN removed BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX environments_removed ON environments (project_id, id) WHERE removed;
