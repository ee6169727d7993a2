-- A deploy key is a key without a user: ids and fingerprints are unique among all keys. SQLite cannot alter a column, so
-- the text of the schema is changed; no stored row changes.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'user_id BIGINT NOT NULL REFERENCES users', 'user_id BIGINT REFERENCES users')
WHERE type = 'table' AND name = 'keys';
PRAGMA writable_schema = RESET;

CREATE TABLE project_deploy_keys (
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    key_id BIGINT NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
    PRIMARY KEY (project_id, key_id)
) WITHOUT ROWID;
CREATE INDEX project_deploy_keys_of_key ON project_deploy_keys (key_id);
