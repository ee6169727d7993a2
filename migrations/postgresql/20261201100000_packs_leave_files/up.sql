-- The packs of these repositories have no rows yet. The program stores them when it starts.
UPDATE repositories SET packs_version = -1;
DROP INDEX repositories_in_files;
CREATE INDEX repositories_in_files ON repositories (project_id) WHERE refs_version < 0 OR packs_version < 0;
