CREATE TABLE services (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES project_roots (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    active BOOLEAN NOT NULL,
    -- Sealed JSON.
    properties TEXT NOT NULL,
    -- Sealed: the property to which events are delivered. Null for a service that receives none.
    url TEXT,
    -- Whether it is active and replaces the issues of the project.
    external_tracker BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    UNIQUE (project_id, name)
);
CREATE INDEX services_with_url ON services (project_id) WHERE url IS NOT NULL;
CREATE INDEX services_that_track ON services (project_id) WHERE external_tracker;

-- Services also have a queue of deliveries.
ALTER TABLE hook_lanes ADD COLUMN service_id BIGINT REFERENCES services (id) ON DELETE CASCADE;
CREATE UNIQUE INDEX hook_lanes_of_service ON hook_lanes (service_id) WHERE service_id IS NOT NULL;
-- The text of the schema is changed, because SQLite cannot alter a constraint: no stored row changes.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '(project_hook_id IS NULL) <> (system_hook_id IS NULL)', '(project_hook_id IS NOT NULL) + (system_hook_id IS NOT NULL) + (service_id IS NOT NULL) = 1')
WHERE type = 'table' AND name = 'hook_lanes';
PRAGMA writable_schema = RESET;
