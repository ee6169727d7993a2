-- The settings of the service: one row with the values that administrators have changed, as a JSON object. The version
-- counts the changes, so that a server learns by one number whether its cached settings are current.
CREATE TABLE application_settings (
    id BIGINT PRIMARY KEY NOT NULL CHECK (id = 1),
    version BIGINT NOT NULL,
    changed TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
INSERT INTO application_settings (id, version, changed, created_at, updated_at)
VALUES (1, 0, '{}', now() AT TIME ZONE 'UTC', now() AT TIME ZONE 'UTC');
