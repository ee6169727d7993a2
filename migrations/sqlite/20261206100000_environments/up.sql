CREATE TABLE environments (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES project_roots (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    external_url TEXT,
    state TEXT NOT NULL CHECK (state IN ('available', 'stopped')),
    -- The branch whose deletion stops the environment. Null, unless the last deployment names the job for it.
    stop_branch TEXT,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    UNIQUE (project_id, name),
    UNIQUE (project_id, external_url)
);
CREATE INDEX environments_of_project ON environments (project_id, id);
CREATE INDEX environments_to_stop ON environments (project_id, stop_branch, id)
    WHERE state = 'available' AND stop_branch IS NOT NULL;

CREATE TABLE deployments (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES project_roots (id) ON DELETE CASCADE,
    iid BIGINT NOT NULL,
    environment_id BIGINT NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
    build_id BIGINT NOT NULL REFERENCES builds (id) ON DELETE CASCADE,
    reference TEXT NOT NULL,
    sha TEXT NOT NULL,
    user_id BIGINT REFERENCES user_roots (id) ON DELETE SET NULL,
    on_stop TEXT,
    created_at TIMESTAMP NOT NULL,
    UNIQUE (project_id, iid)
);
CREATE INDEX deployments_of_project ON deployments (project_id, id);
CREATE INDEX deployments_of_environment ON deployments (environment_id, id);
CREATE INDEX deployments_of_build ON deployments (build_id);
CREATE INDEX deployments_of_user ON deployments (user_id, project_id);

ALTER TABLE iids ADD COLUMN deployments BIGINT NOT NULL DEFAULT 0;
