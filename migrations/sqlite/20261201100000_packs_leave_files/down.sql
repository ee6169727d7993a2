DROP INDEX repositories_in_files;
CREATE INDEX repositories_in_files ON repositories (project_id) WHERE refs_version = -1;
UPDATE repositories SET packs_version = 0 WHERE packs_version = -1;
