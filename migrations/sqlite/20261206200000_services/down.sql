DELETE FROM hook_lanes WHERE service_id IS NOT NULL;
DROP INDEX hook_lanes_of_service;
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '(project_hook_id IS NOT NULL) + (system_hook_id IS NOT NULL) + (service_id IS NOT NULL) = 1', '(project_hook_id IS NULL) <> (system_hook_id IS NULL)')
WHERE type = 'table' AND name = 'hook_lanes';
PRAGMA writable_schema = RESET;
ALTER TABLE hook_lanes DROP COLUMN service_id;
DROP TABLE services;
