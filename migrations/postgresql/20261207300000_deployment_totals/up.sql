-- The number of deployments of a project is that of the numbers given out less that of the deleted deployments.
ALTER TABLE iids ADD COLUMN removed_deployments BIGINT NOT NULL DEFAULT 0;
UPDATE iids SET removed_deployments = deployments
    - (SELECT count(*) FROM deployments WHERE deployments.project_id = iids.project_id
        AND environment_id NOT IN (SELECT id FROM environments WHERE removed))
WHERE deployments > 0;
