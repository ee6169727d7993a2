-- What the repository shows when no branch is asked for, as it was after the last change of a branch.
ALTER TABLE projects ADD COLUMN default_branch TEXT;

CREATE TABLE protected_branches (
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    pattern TEXT NOT NULL,
    developers_can_push BOOLEAN NOT NULL,
    developers_can_merge BOOLEAN NOT NULL,
    PRIMARY KEY (project_id, pattern)
) WITHOUT ROWID;

CREATE TABLE releases (
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    description TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (project_id, tag)
);

CREATE TABLE repository_tasks (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('copy', 'import', 'remove_merged')),
    -- A project that may be gone: then there is nothing to copy.
    source_id BIGINT,
    user_id BIGINT REFERENCES users (id) ON DELETE CASCADE,
    -- With what it takes to get in, so it is kept only until the task is done or given up.
    url TEXT,
    tries INTEGER NOT NULL DEFAULT 0,
    -- When it may be given out next; NULL once it is given up.
    due_at TIMESTAMP,
    error TEXT,
    created_at TIMESTAMP NOT NULL
);
-- The next task is read from this in order.
CREATE INDEX repository_tasks_due ON repository_tasks (due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX repository_tasks_of_project ON repository_tasks (project_id, id);
CREATE INDEX repository_tasks_of_user ON repository_tasks (user_id, id);

-- Changes of repositories that are recorded, so that none is recorded twice.
CREATE TABLE settled_changes (
    key TEXT PRIMARY KEY NOT NULL,
    at TIMESTAMP NOT NULL
) WITHOUT ROWID;
CREATE INDEX settled_changes_by_time ON settled_changes (at);
