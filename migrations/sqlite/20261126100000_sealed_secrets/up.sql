-- Secrets are stored sealed with the key of the installation. SQL has no key: the program seals what is there at its next
-- start, table by table in steps, and notes here how far it has come.
CREATE TABLE sealing (
    name TEXT PRIMARY KEY NOT NULL,
    last_id BIGINT NOT NULL
);
INSERT INTO sealing (name, last_id)
VALUES ('projects', 0), ('project_hooks', 0), ('system_hooks', 0), ('repository_tasks', 0), ('deliveries', 0), ('vacuum', 0);

-- A text sealed with the key, by which a start with another key is noticed.
CREATE TABLE key_proofs (
    id INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
    proof TEXT NOT NULL
);

-- The token by which runners register for a project: sealed, and as a keyed hash by which it is found.
-- projects.runners_token is empty from now on.
DROP INDEX projects_by_runners_token;
CREATE TABLE runners_tokens (
    project_id INTEGER PRIMARY KEY NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    sealed TEXT NOT NULL,
    proof TEXT NOT NULL UNIQUE
);
