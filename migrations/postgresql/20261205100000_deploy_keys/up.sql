-- A deploy key is a key without a user: ids and fingerprints are unique among all keys.
ALTER TABLE keys ALTER COLUMN user_id DROP NOT NULL;

CREATE TABLE project_deploy_keys (
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    key_id BIGINT NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
    PRIMARY KEY (project_id, key_id)
);
CREATE INDEX project_deploy_keys_of_key ON project_deploy_keys (key_id);
