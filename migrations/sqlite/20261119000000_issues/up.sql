-- Which numbers the issues and milestones of a project have had: none is given twice.
CREATE TABLE iids (
    project_id BIGINT PRIMARY KEY NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    issues BIGINT NOT NULL DEFAULT 0,
    milestones BIGINT NOT NULL DEFAULT 0
);

-- Labels know how many issues have them, by whether those are open and whether everybody sees them.
CREATE TABLE labels (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    color TEXT NOT NULL,
    description TEXT,
    priority BIGINT CHECK (priority >= 0),
    open_issues INTEGER NOT NULL DEFAULT 0 CHECK (open_issues >= 0),
    closed_issues INTEGER NOT NULL DEFAULT 0 CHECK (closed_issues >= 0),
    open_confidential INTEGER NOT NULL DEFAULT 0 CHECK (open_confidential >= 0),
    closed_confidential INTEGER NOT NULL DEFAULT 0 CHECK (closed_confidential >= 0),
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    UNIQUE (project_id, title)
);

CREATE TABLE label_subscriptions (
    label_id BIGINT NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (label_id, user_id)
) WITHOUT ROWID;
CREATE INDEX label_subscriptions_of_user ON label_subscriptions (user_id, label_id);

CREATE TABLE milestones (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    iid BIGINT NOT NULL,
    title TEXT NOT NULL,
    description TEXT,
    state TEXT NOT NULL CHECK (state IN ('active', 'closed')),
    due_date DATE,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    UNIQUE (project_id, iid),
    UNIQUE (project_id, title)
);
CREATE INDEX milestones_of_project ON milestones (project_id, id);

CREATE TABLE issues (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    iid BIGINT NOT NULL,
    author_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    assignee_id BIGINT REFERENCES users (id) ON DELETE CASCADE,
    milestone_id BIGINT REFERENCES milestones (id) ON DELETE SET NULL,
    updated_by_id BIGINT REFERENCES users (id) ON DELETE SET NULL,
    moved_to_id BIGINT REFERENCES issues (id) ON DELETE SET NULL,
    title TEXT NOT NULL,
    description TEXT,
    state TEXT NOT NULL CHECK (state IN ('opened', 'reopened', 'closed')),
    confidential BOOLEAN NOT NULL,
    due_date DATE,
    user_notes_count INTEGER NOT NULL DEFAULT 0 CHECK (user_notes_count >= 0),
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    UNIQUE (project_id, iid)
);
-- The lists of a project read these in order. The first three also tell who sees a row, for totals.
CREATE INDEX issues_by_created_at
    ON issues (project_id, created_at, id, confidential, author_id, assignee_id);
CREATE INDEX issues_open_by_created_at
    ON issues (project_id, created_at, id, confidential, author_id, assignee_id, state)
    WHERE state <> 'closed';
CREATE INDEX issues_closed_by_created_at
    ON issues (project_id, created_at, id, confidential, author_id, assignee_id, state)
    WHERE state = 'closed';
CREATE INDEX issues_by_updated_at ON issues (project_id, updated_at, id);
CREATE INDEX issues_open_by_updated_at ON issues (project_id, updated_at, id) WHERE state <> 'closed';
CREATE INDEX issues_closed_by_updated_at ON issues (project_id, updated_at, id) WHERE state = 'closed';
-- So do those of an author, and what goes with a user is found by these.
CREATE INDEX issues_of_author_by_created_at ON issues (author_id, created_at, id);
CREATE INDEX issues_of_author_by_updated_at ON issues (author_id, updated_at, id);
CREATE INDEX issues_of_assignee ON issues (assignee_id);
CREATE INDEX issues_of_editor ON issues (updated_by_id);
CREATE INDEX issues_of_milestone ON issues (milestone_id, id);
CREATE INDEX issues_moved_to ON issues (moved_to_id);
-- The few that not everybody sees are counted by these for whoever takes part in them.
CREATE INDEX issues_confidential_of_author ON issues (project_id, author_id) WHERE confidential;
CREATE INDEX issues_confidential_of_assignee ON issues (project_id, assignee_id) WHERE confidential;

CREATE TABLE issue_labels (
    issue_id BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    label_id BIGINT NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
    PRIMARY KEY (issue_id, label_id)
) WITHOUT ROWID;
CREATE INDEX issue_labels_of_label ON issue_labels (label_id, issue_id);

CREATE TABLE issue_subscriptions (
    issue_id BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    subscribed BOOLEAN NOT NULL,
    PRIMARY KEY (issue_id, user_id)
) WITHOUT ROWID;
CREATE INDEX issue_subscriptions_of_user ON issue_subscriptions (user_id, issue_id);

-- Who wrote in an issue or was named there.
CREATE TABLE issue_participants (
    issue_id BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (issue_id, user_id)
) WITHOUT ROWID;
CREATE INDEX issue_participants_of_user ON issue_participants (user_id, issue_id);

CREATE TABLE notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    issue_id BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    author_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    updated_by_id BIGINT REFERENCES users (id) ON DELETE SET NULL,
    body TEXT NOT NULL,
    system BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
CREATE INDEX notes_of_issue ON notes (issue_id, id);
CREATE INDEX notes_of_author ON notes (author_id);
CREATE INDEX notes_of_editor ON notes (updated_by_id);
CREATE INDEX notes_of_project ON notes (project_id);

CREATE TABLE boards (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL UNIQUE REFERENCES projects (id) ON DELETE CASCADE
);

CREATE TABLE board_lists (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    board_id BIGINT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    label_id BIGINT NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    created_at TIMESTAMP NOT NULL,
    deleted_at TIMESTAMP
);
CREATE UNIQUE INDEX board_lists_label ON board_lists (board_id, label_id) WHERE deleted_at IS NULL;
CREATE INDEX board_lists_by_position ON board_lists (board_id, position) WHERE deleted_at IS NULL;
CREATE INDEX board_lists_of_board ON board_lists (board_id);
CREATE INDEX board_lists_of_label ON board_lists (label_id);

-- What happened to an issue and its notes goes with it, and is seen by those who see it.
ALTER TABLE events ADD COLUMN issue_id BIGINT REFERENCES issues (id) ON DELETE CASCADE;
CREATE INDEX events_of_issue ON events (issue_id);
