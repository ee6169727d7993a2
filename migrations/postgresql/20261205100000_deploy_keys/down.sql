DROP TABLE project_deploy_keys;
DELETE FROM keys WHERE user_id IS NULL;
ALTER TABLE keys ALTER COLUMN user_id SET NOT NULL;
