-- Refs are rows: a change of refs and its record are one transaction.
DROP TABLE settled_changes;

-- The refs of these repositories are still in files. The program stores them when it starts.
INSERT INTO repositories (project_id, head, refs_version, packs_version)
SELECT id, 'refs/heads/master', -1, 0 FROM projects WHERE true
ON CONFLICT DO NOTHING;
CREATE INDEX repositories_in_files ON repositories (project_id) WHERE refs_version = -1;
