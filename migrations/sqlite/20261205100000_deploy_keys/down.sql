DROP TABLE project_deploy_keys;
DELETE FROM keys WHERE user_id IS NULL;
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'user_id BIGINT REFERENCES users', 'user_id BIGINT NOT NULL REFERENCES users')
WHERE type = 'table' AND name = 'keys';
PRAGMA writable_schema = RESET;
