-- Groups are namespaces without an owner. Names and paths are found by `name_folded` and
-- `path_folded`, both in lower case.
ALTER TABLE namespaces ADD COLUMN name_folded TEXT NOT NULL DEFAULT '';
ALTER TABLE namespaces ADD COLUMN description TEXT NOT NULL DEFAULT '';
ALTER TABLE namespaces ADD COLUMN visibility_level INTEGER NOT NULL DEFAULT 20
    CHECK (visibility_level IN (0, 10, 20));
ALTER TABLE namespaces ADD COLUMN lfs_enabled BOOLEAN;
ALTER TABLE namespaces ADD COLUMN request_access_enabled BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE namespaces ADD COLUMN share_with_group_lock BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE namespaces ADD COLUMN avatar TEXT;
ALTER TABLE namespaces ADD COLUMN created_at TIMESTAMP NOT NULL DEFAULT '1970-01-01 00:00:00';
ALTER TABLE namespaces ADD COLUMN updated_at TIMESTAMP NOT NULL DEFAULT '1970-01-01 00:00:00';

-- What is there belongs to users, whose names are in ASCII.
UPDATE namespaces SET
    name_folded = lower(name),
    created_at = (SELECT created_at FROM users WHERE users.id = namespaces.owner_id),
    updated_at = (SELECT updated_at FROM users WHERE users.id = namespaces.owner_id)
WHERE owner_id IS NOT NULL;

CREATE INDEX namespaces_by_name ON namespaces (name, id);
CREATE INDEX namespaces_by_name_folded ON namespaces (name_folded, id);
CREATE UNIQUE INDEX groups_name ON namespaces (name) WHERE owner_id IS NULL;
-- The lists of groups read these in order. The condition is written so that the index that makes
-- owners unique cannot be taken for them.
CREATE INDEX groups_by_name ON namespaces (name) WHERE coalesce(owner_id, 0) = 0;
CREATE INDEX groups_by_path ON namespaces (path) WHERE coalesce(owner_id, 0) = 0;

-- Any three letters in a row find the namespaces that contain them.
CREATE VIRTUAL TABLE namespaces_search USING fts5 (
    name_folded, path_folded, content = 'namespaces', content_rowid = 'id',
    tokenize = 'trigram case_sensitive 1'
);
INSERT INTO namespaces_search (namespaces_search) VALUES ('rebuild');
CREATE TRIGGER namespaces_search_insert AFTER INSERT ON namespaces BEGIN
    INSERT INTO namespaces_search (rowid, name_folded, path_folded)
    VALUES (new.id, new.name_folded, new.path_folded);
END;
CREATE TRIGGER namespaces_search_delete AFTER DELETE ON namespaces BEGIN
    INSERT INTO namespaces_search (namespaces_search, rowid, name_folded, path_folded)
    VALUES ('delete', old.id, old.name_folded, old.path_folded);
END;
CREATE TRIGGER namespaces_search_update AFTER UPDATE OF name_folded, path_folded ON namespaces
WHEN old.name_folded <> new.name_folded OR old.path_folded <> new.path_folded BEGIN
    INSERT INTO namespaces_search (namespaces_search, rowid, name_folded, path_folded)
    VALUES ('delete', old.id, old.name_folded, old.path_folded);
    INSERT INTO namespaces_search (rowid, name_folded, path_folded)
    VALUES (new.id, new.name_folded, new.path_folded);
END;

CREATE TABLE group_members (
    group_id BIGINT NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    access_level INTEGER NOT NULL CHECK (access_level IN (10, 20, 30, 40, 50)),
    notification_level INTEGER NOT NULL,
    expires_at DATE,
    PRIMARY KEY (group_id, user_id)
) WITHOUT ROWID;
CREATE INDEX group_members_of_user ON group_members (user_id, group_id);

CREATE TABLE projects (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    namespace_id BIGINT NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
    creator_id BIGINT REFERENCES users (id) ON DELETE SET NULL,
    name TEXT NOT NULL,
    path TEXT NOT NULL,
    path_folded TEXT NOT NULL,
    description TEXT,
    visibility_level INTEGER NOT NULL CHECK (visibility_level IN (0, 10, 20)),
    archived BOOLEAN NOT NULL,
    issues_enabled BOOLEAN NOT NULL,
    merge_requests_enabled BOOLEAN NOT NULL,
    wiki_enabled BOOLEAN NOT NULL,
    builds_enabled BOOLEAN NOT NULL,
    snippets_enabled BOOLEAN NOT NULL,
    container_registry_enabled BOOLEAN NOT NULL,
    shared_runners_enabled BOOLEAN NOT NULL,
    public_builds BOOLEAN NOT NULL,
    lfs_enabled BOOLEAN,
    merge_only_if_build_succeeds BOOLEAN NOT NULL,
    merge_only_if_discussions_resolved BOOLEAN NOT NULL,
    request_access_enabled BOOLEAN NOT NULL,
    star_count INTEGER NOT NULL DEFAULT 0 CHECK (star_count >= 0),
    open_issues_count INTEGER NOT NULL DEFAULT 0 CHECK (open_issues_count >= 0),
    -- How many forks a project has is counted by the index on this: a counter would make whoever
    -- removes a fork wait for whoever removes its source, and the other way round.
    forked_from_id BIGINT REFERENCES projects (id) ON DELETE SET NULL,
    runners_token TEXT NOT NULL,
    import_url TEXT,
    avatar TEXT,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    last_activity_at TIMESTAMP NOT NULL,
    -- Name, path and description in lower case: what a search looks through.
    search_text TEXT NOT NULL,
    UNIQUE (namespace_id, name),
    UNIQUE (namespace_id, path_folded)
);
CREATE INDEX projects_of_creator ON projects (creator_id);
CREATE INDEX projects_of_source ON projects (forked_from_id);
-- The lists of all projects read these in order.
CREATE INDEX projects_by_name ON projects (name, id);
CREATE INDEX projects_by_path ON projects (path, id);
CREATE INDEX projects_by_created_at ON projects (created_at, id);
CREATE INDEX projects_by_updated_at ON projects (updated_at, id);
CREATE INDEX projects_by_last_activity_at ON projects (last_activity_at, id);
-- Totals, and lists of which few projects are part, read these.
CREATE INDEX projects_by_visibility ON projects (visibility_level, id);
CREATE INDEX projects_archived ON projects (id) WHERE archived;

CREATE VIRTUAL TABLE projects_search USING fts5 (
    search_text, content = 'projects', content_rowid = 'id', tokenize = 'trigram case_sensitive 1'
);
CREATE TRIGGER projects_search_insert AFTER INSERT ON projects BEGIN
    INSERT INTO projects_search (rowid, search_text) VALUES (new.id, new.search_text);
END;
CREATE TRIGGER projects_search_delete AFTER DELETE ON projects BEGIN
    INSERT INTO projects_search (projects_search, rowid, search_text)
    VALUES ('delete', old.id, old.search_text);
END;
CREATE TRIGGER projects_search_update AFTER UPDATE OF search_text ON projects
WHEN old.search_text <> new.search_text BEGIN
    INSERT INTO projects_search (projects_search, rowid, search_text)
    VALUES ('delete', old.id, old.search_text);
    INSERT INTO projects_search (rowid, search_text) VALUES (new.id, new.search_text);
END;

CREATE TABLE project_members (
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    access_level INTEGER NOT NULL CHECK (access_level IN (10, 20, 30, 40)),
    notification_level INTEGER NOT NULL,
    expires_at DATE,
    PRIMARY KEY (project_id, user_id)
) WITHOUT ROWID;
CREATE INDEX project_members_of_user ON project_members (user_id, project_id);

CREATE TABLE project_shares (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    group_id BIGINT NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    group_access INTEGER NOT NULL CHECK (group_access IN (10, 20, 30, 40)),
    expires_at DATE,
    UNIQUE (project_id, group_id)
);
CREATE INDEX project_shares_of_group ON project_shares (group_id, project_id);

CREATE TABLE stars (
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (project_id, user_id)
) WITHOUT ROWID;
CREATE INDEX stars_of_user ON stars (user_id, project_id);

CREATE TABLE project_hooks (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    token TEXT,
    push_events BOOLEAN NOT NULL,
    tag_push_events BOOLEAN NOT NULL,
    issues_events BOOLEAN NOT NULL,
    merge_requests_events BOOLEAN NOT NULL,
    note_events BOOLEAN NOT NULL,
    build_events BOOLEAN NOT NULL,
    pipeline_events BOOLEAN NOT NULL,
    wiki_page_events BOOLEAN NOT NULL,
    enable_ssl_verification BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
CREATE INDEX project_hooks_of_project ON project_hooks (project_id, id);

CREATE TABLE system_hooks (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    url TEXT NOT NULL,
    token TEXT,
    push_events BOOLEAN NOT NULL,
    tag_push_events BOOLEAN NOT NULL,
    enable_ssl_verification BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);

-- Events happen in projects. There were none before this, so there is nothing to keep.
DROP TABLE events;
CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    author_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    action TEXT NOT NULL,
    target_type TEXT,
    target_id BIGINT,
    target_title TEXT,
    data TEXT,
    created_at TIMESTAMP NOT NULL
);
CREATE INDEX events_of_author ON events (author_id, id);
CREATE INDEX events_of_project ON events (project_id, id);
