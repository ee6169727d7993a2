DELETE FROM hook_lanes WHERE service_id IS NOT NULL;
DROP INDEX hook_lanes_of_service;
ALTER TABLE hook_lanes DROP CONSTRAINT hook_lanes_check;
ALTER TABLE hook_lanes ADD CONSTRAINT hook_lanes_check
    CHECK ((project_hook_id IS NULL) <> (system_hook_id IS NULL));
ALTER TABLE hook_lanes DROP COLUMN service_id;
DROP TABLE services;
