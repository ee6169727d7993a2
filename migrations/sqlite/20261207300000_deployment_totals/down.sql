ALTER TABLE iids DROP COLUMN removed_deployments;
