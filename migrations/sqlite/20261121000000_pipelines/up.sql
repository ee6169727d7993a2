-- One for each pushed ref, or asked for. The commit is kept because hooks are told of it, and it may be gone.
CREATE TABLE pipelines (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    user_id BIGINT REFERENCES users (id) ON DELETE SET NULL,
    sha TEXT NOT NULL,
    before_sha TEXT NOT NULL,
    reference TEXT NOT NULL,
    tag BOOLEAN NOT NULL,
    status TEXT NOT NULL
        CHECK (status IN ('created', 'pending', 'running', 'success', 'failed', 'canceled', 'skipped')),
    yaml_errors TEXT,
    duration BIGINT,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    started_at TIMESTAMP,
    finished_at TIMESTAMP,
    commit_message TEXT NOT NULL,
    commit_author_name TEXT NOT NULL,
    commit_author_email TEXT NOT NULL,
    -- With the offsets that were recorded.
    commit_authored_at TEXT NOT NULL,
    commit_committed_at TEXT NOT NULL
);
-- The list of a project reads this in order.
CREATE INDEX pipelines_of_project ON pipelines (project_id, id);
CREATE INDEX pipelines_active ON pipelines (project_id, id, status) WHERE status IN ('pending', 'running');
CREATE INDEX pipelines_of_commit ON pipelines (project_id, sha, id);
CREATE INDEX pipelines_of_ref ON pipelines (project_id, reference, status, id);
CREATE INDEX pipelines_of_user ON pipelines (user_id, project_id);

-- What runners are given to do. A build that is tried again has the definition of the first try.
CREATE TABLE build_definitions (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    pipeline_id BIGINT NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE,
    commands TEXT NOT NULL,
    options TEXT NOT NULL,
    variables TEXT NOT NULL
);
CREATE INDEX build_definitions_of_pipeline ON build_definitions (pipeline_id);

-- Who takes builds. Tokens are made of ids by a key that is not here.
CREATE TABLE runners (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    description TEXT NOT NULL,
    active BOOLEAN NOT NULL,
    is_shared BOOLEAN NOT NULL,
    run_untagged BOOLEAN NOT NULL,
    locked BOOLEAN NOT NULL,
    -- A JSON array of texts in order, each once.
    tags TEXT NOT NULL,
    name TEXT,
    version TEXT,
    revision TEXT,
    platform TEXT,
    architecture TEXT,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    contacted_at TIMESTAMP
);

CREATE TABLE runner_projects (
    runner_id BIGINT NOT NULL REFERENCES runners (id) ON DELETE CASCADE,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    PRIMARY KEY (runner_id, project_id)
) WITHOUT ROWID;
CREATE INDEX runner_projects_of_project ON runner_projects (project_id, runner_id);

-- Builds, and what others say of a commit, which counts like a build.
CREATE TABLE builds (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    pipeline_id BIGINT NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE,
    definition_id BIGINT REFERENCES build_definitions (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('build', 'external')),
    name TEXT NOT NULL,
    stage TEXT NOT NULL,
    stage_index INTEGER NOT NULL,
    status TEXT NOT NULL
        CHECK (status IN ('created', 'pending', 'running', 'success', 'failed', 'canceled', 'skipped')),
    run_when TEXT NOT NULL CHECK (run_when IN ('on_success', 'on_failure', 'always', 'manual')),
    allow_failure BOOLEAN NOT NULL,
    -- A JSON array of texts in order, each once: builds with the same tags have the same text.
    tags TEXT NOT NULL,
    -- A newer one of the same name counts in its place.
    superseded BOOLEAN NOT NULL,
    user_id BIGINT REFERENCES users (id) ON DELETE SET NULL,
    runner_id BIGINT REFERENCES runners (id) ON DELETE SET NULL,
    coverage TEXT,
    target_url TEXT,
    description TEXT,
    artifacts_name TEXT,
    artifacts_size BIGINT,
    artifacts_expire_at TIMESTAMP,
    erased_at TIMESTAMP,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    queued_at TIMESTAMP,
    started_at TIMESTAMP,
    finished_at TIMESTAMP
);
-- The lists of a project read these in order.
CREATE INDEX builds_of_project ON builds (project_id, kind, id);
CREATE INDEX builds_of_project_by_status ON builds (project_id, status, id) WHERE kind = 'build';
CREATE INDEX builds_of_pipeline ON builds (pipeline_id, id);
CREATE INDEX builds_of_definition ON builds (definition_id);
CREATE INDEX builds_of_user ON builds (user_id, project_id);
CREATE INDEX builds_of_runner ON builds (runner_id);
-- Runners choose from these: the first two hold only what waits, the third only what runs.
CREATE INDEX builds_pending ON builds (tags, project_id, id) WHERE status = 'pending' AND kind = 'build';
CREATE INDEX builds_pending_of_project ON builds (project_id, tags, id)
    WHERE status = 'pending' AND kind = 'build';
CREATE INDEX builds_running ON builds (project_id, runner_id) WHERE status = 'running' AND kind = 'build';
-- Those of which nothing is heard any more are found by this.
CREATE INDEX builds_waited_for ON builds (updated_at, id)
    WHERE status IN ('pending', 'running') AND kind = 'build';
CREATE INDEX builds_with_expiring_artifacts ON builds (artifacts_expire_at, id)
    WHERE artifacts_expire_at IS NOT NULL;

-- By which programs elsewhere start pipelines. Tokens are made of ids by a key that is not here.
CREATE TABLE triggers (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    last_used_at TIMESTAMP
);
CREATE INDEX triggers_of_project ON triggers (project_id, id);

-- Pipelines that were started by a trigger, with what it said.
CREATE TABLE trigger_requests (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    pipeline_id BIGINT NOT NULL UNIQUE REFERENCES pipelines (id) ON DELETE CASCADE,
    trigger_id BIGINT REFERENCES triggers (id) ON DELETE SET NULL,
    -- Sealed.
    variables BLOB NOT NULL,
    created_at TIMESTAMP NOT NULL
);
CREATE INDEX trigger_requests_of_trigger ON trigger_requests (trigger_id);

CREATE TABLE variables (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    -- Sealed.
    value BLOB NOT NULL,
    UNIQUE (project_id, key)
);
CREATE INDEX variables_of_project ON variables (project_id, id);

-- Runners register for a project by this.
CREATE INDEX projects_by_runners_token ON projects (runners_token);
