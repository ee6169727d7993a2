-- One row for each project whose repository is not empty. The numbers grow with each change of refs and of packs.
CREATE TABLE repositories (
    project_id INTEGER PRIMARY KEY NOT NULL REFERENCES project_roots (id) ON DELETE CASCADE,
    head TEXT NOT NULL,
    refs_version BIGINT NOT NULL,
    packs_version BIGINT NOT NULL
);

CREATE TABLE refs (
    project_id BIGINT NOT NULL REFERENCES project_roots (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    target BLOB NOT NULL,
    -- The object that an annotated tag leads to in the end.
    peeled BLOB,
    PRIMARY KEY (project_id, name)
) WITHOUT ROWID;

CREATE TABLE packs (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    -- NULL once nothing is left of the project.
    project_id BIGINT REFERENCES project_roots (id) ON DELETE SET NULL,
    sha256 BLOB NOT NULL,
    bytes BIGINT NOT NULL,
    objects BIGINT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    retired_at TIMESTAMP,
    UNIQUE (project_id, sha256)
);
CREATE INDEX packs_by_name ON packs (sha256);
CREATE INDEX packs_by_retirement ON packs (retired_at, id) WHERE retired_at IS NOT NULL;
CREATE INDEX packs_without_project ON packs (id) WHERE project_id IS NULL AND retired_at IS NULL;

-- Packs that are being removed from the place where packs are stored.
CREATE TABLE condemned_packs (
    sha256 BLOB PRIMARY KEY NOT NULL,
    at TIMESTAMP NOT NULL
) WITHOUT ROWID;
