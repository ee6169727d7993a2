-- Merge requests belong to their target project. The source project is no reference: its number stays when it is gone.
ALTER TABLE iids ADD COLUMN merge_requests BIGINT NOT NULL DEFAULT 0;

CREATE TABLE merge_requests (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES project_roots (id) ON DELETE CASCADE,
    iid BIGINT NOT NULL,
    source_project_id BIGINT NOT NULL,
    source_branch TEXT NOT NULL,
    target_branch TEXT NOT NULL,
    author_id BIGINT NOT NULL REFERENCES user_roots (id) ON DELETE CASCADE,
    assignee_id BIGINT REFERENCES user_roots (id) ON DELETE CASCADE,
    milestone_id BIGINT REFERENCES milestones (id) ON DELETE SET NULL,
    updated_by_id BIGINT REFERENCES user_roots (id) ON DELETE SET NULL,
    title TEXT NOT NULL,
    description TEXT,
    state TEXT NOT NULL CHECK (state IN ('opened', 'reopened', 'closed', 'merged')),
    merge_status TEXT NOT NULL CHECK (merge_status IN ('unchecked', 'can_be_merged', 'cannot_be_merged')),
    head BLOB,
    merge_commit BLOB,
    -- The automatic merge, if there is one: the user who set it, the message, and whether the source branch goes.
    merge_user_id BIGINT REFERENCES user_roots (id) ON DELETE SET NULL,
    merge_message TEXT,
    merge_removes_source BOOLEAN,
    -- The versions of both repositories up to which pushes are included.
    seen_source BIGINT NOT NULL,
    seen_target BIGINT NOT NULL,
    user_notes_count INTEGER NOT NULL DEFAULT 0 CHECK (user_notes_count >= 0),
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    UNIQUE (project_id, iid)
);
-- The lists of a project read these in order. With the state some of them also count a list without its rows.
CREATE INDEX merge_requests_by_created_at ON merge_requests (project_id, created_at, id);
CREATE INDEX merge_requests_by_updated_at ON merge_requests (project_id, updated_at, id);
CREATE INDEX merge_requests_open_by_created_at ON merge_requests (project_id, created_at, id, state)
    WHERE state IN ('opened', 'reopened');
CREATE INDEX merge_requests_open_by_updated_at ON merge_requests (project_id, updated_at, id)
    WHERE state IN ('opened', 'reopened');
CREATE INDEX merge_requests_closed_by_created_at ON merge_requests (project_id, created_at, id, state)
    WHERE state = 'closed';
CREATE INDEX merge_requests_closed_by_updated_at ON merge_requests (project_id, updated_at, id)
    WHERE state = 'closed';
CREATE INDEX merge_requests_merged_by_created_at ON merge_requests (project_id, created_at, id, state)
    WHERE state = 'merged';
CREATE INDEX merge_requests_merged_by_updated_at ON merge_requests (project_id, updated_at, id)
    WHERE state = 'merged';
-- Pushes find the open requests of a branch by these. Names of branches may be longer than a row of an index, so only
-- their beginning is indexed.
CREATE INDEX merge_requests_from_branch ON merge_requests (source_project_id, substr(source_branch, 1, 250), id)
    WHERE state IN ('opened', 'reopened');
CREATE INDEX merge_requests_into_branch ON merge_requests (project_id, substr(target_branch, 1, 250), id)
    WHERE state IN ('opened', 'reopened');
-- The open requests of a fork, which are closed with it.
CREATE INDEX merge_requests_from_project ON merge_requests (source_project_id, id)
    WHERE state IN ('opened', 'reopened');
-- An open request with the same branches is found by this.
CREATE INDEX merge_requests_open_twins
    ON merge_requests (project_id, source_project_id, substr(target_branch, 1, 250), substr(source_branch, 1, 250))
    WHERE state IN ('opened', 'reopened');
-- The requests that wait for a pipeline.
CREATE INDEX merge_requests_automatic ON merge_requests (source_project_id, substr(source_branch, 1, 250), id)
    WHERE merge_user_id IS NOT NULL AND state IN ('opened', 'reopened');
-- The open requests of an author or assignee are counted by these.
CREATE INDEX merge_requests_open_of_author ON merge_requests (project_id, author_id)
    WHERE state IN ('opened', 'reopened');
CREATE INDEX merge_requests_open_of_assignee ON merge_requests (project_id, assignee_id)
    WHERE assignee_id IS NOT NULL AND state IN ('opened', 'reopened');
-- Rows that change with a user or a milestone are found by these.
CREATE INDEX merge_requests_of_author ON merge_requests (author_id);
CREATE INDEX merge_requests_of_assignee ON merge_requests (assignee_id) WHERE assignee_id IS NOT NULL;
CREATE INDEX merge_requests_of_editor ON merge_requests (updated_by_id) WHERE updated_by_id IS NOT NULL;
CREATE INDEX merge_requests_of_merge_user ON merge_requests (merge_user_id) WHERE merge_user_id IS NOT NULL;
CREATE INDEX merge_requests_of_milestone ON merge_requests (milestone_id) WHERE milestone_id IS NOT NULL;

CREATE TABLE merge_request_versions (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    merge_request_id BIGINT NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
    head_commit BLOB,
    start_commit BLOB,
    base_commit BLOB,
    -- The number of changed files, with a plus where they were not all counted.
    size TEXT,
    created_at TIMESTAMP NOT NULL
);
CREATE INDEX merge_request_versions_in_order ON merge_request_versions (merge_request_id, id);

CREATE TABLE merge_request_labels (
    merge_request_id BIGINT NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
    label_id BIGINT NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
    PRIMARY KEY (merge_request_id, label_id)
) WITHOUT ROWID;
CREATE INDEX merge_request_labels_of_label ON merge_request_labels (label_id, merge_request_id);
-- Labels know how many open merge requests have them, as they do of issues.
ALTER TABLE labels ADD COLUMN open_merge_requests INTEGER NOT NULL DEFAULT 0 CHECK (open_merge_requests >= 0);

CREATE TABLE merge_request_subscriptions (
    merge_request_id BIGINT NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
    user_id BIGINT NOT NULL REFERENCES user_roots (id) ON DELETE CASCADE,
    subscribed BOOLEAN NOT NULL,
    PRIMARY KEY (merge_request_id, user_id)
) WITHOUT ROWID;
CREATE INDEX merge_request_subscriptions_of_user ON merge_request_subscriptions (user_id, merge_request_id);

-- Users who wrote on a merge request or were mentioned there.
CREATE TABLE merge_request_participants (
    merge_request_id BIGINT NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
    user_id BIGINT NOT NULL REFERENCES user_roots (id) ON DELETE CASCADE,
    PRIMARY KEY (merge_request_id, user_id)
) WITHOUT ROWID;
CREATE INDEX merge_request_participants_of_user ON merge_request_participants (user_id, merge_request_id);

-- Queued work on merge requests: what a push, a removed fork or a finished pipeline does to them. The details are JSON.
ALTER TABLE repository_tasks ADD COLUMN data TEXT;
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''copy'', ''import'', ''remove_merged''',
    '''copy'', ''import'', ''remove_merged'', ''refresh_merge_requests'', ''close_requests_of_fork'', ''merge_automatically'', ''remove_source_branch''')
WHERE type = 'table' AND name = 'repository_tasks';
PRAGMA writable_schema = RESET;
