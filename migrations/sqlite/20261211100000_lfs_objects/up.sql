-- The fork network of a project: the id of the first project of the network, which may be removed since. Null for that
-- first project.
ALTER TABLE project_roots ADD COLUMN network_id BIGINT;
-- Repositories that began as copies share the network of their source. Earlier releases did not record it, so that
-- forks without a source begin a network of their own.
WITH RECURSIVE members (id, network) AS (
    SELECT id, id FROM projects
    WHERE forked_from_id IS NULL OR id NOT IN (SELECT project_id FROM copied_repositories)
    UNION ALL
    SELECT projects.id, members.network
    FROM projects JOIN members ON projects.forked_from_id = members.id
    JOIN copied_repositories ON copied_repositories.project_id = projects.id
)
UPDATE project_roots SET network_id = members.network
FROM members WHERE members.id = project_roots.id AND members.network <> members.id;
CREATE INDEX project_roots_of_network ON project_roots (network_id) WHERE network_id IS NOT NULL;

-- The networks that have LFS objects, with the total size of these. A network that is removed has no project, and its
-- row stays until its files are gone.
CREATE TABLE lfs_networks (
    id INTEGER PRIMARY KEY NOT NULL,
    bytes BIGINT NOT NULL DEFAULT 0,
    removed BOOLEAN NOT NULL DEFAULT FALSE
);
CREATE INDEX lfs_networks_removed ON lfs_networks (id) WHERE removed;

CREATE TABLE lfs_objects (
    network_id BIGINT NOT NULL REFERENCES lfs_networks (id),
    oid BLOB NOT NULL,
    size BIGINT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    PRIMARY KEY (network_id, oid)
) WITHOUT ROWID;
