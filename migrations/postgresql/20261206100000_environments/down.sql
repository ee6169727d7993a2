ALTER TABLE iids DROP COLUMN deployments;
DROP TABLE deployments;
DROP TABLE environments;
