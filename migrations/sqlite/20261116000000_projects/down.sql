DROP TABLE events;
CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL,
    author_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    action TEXT NOT NULL,
    target_type TEXT,
    target_id BIGINT,
    target_title TEXT,
    data TEXT,
    created_at TIMESTAMP NOT NULL
);
CREATE INDEX events_of_author ON events (author_id, id);

DROP TABLE system_hooks;
DROP TABLE project_hooks;
DROP TABLE stars;
DROP TABLE project_shares;
DROP TABLE project_members;
DROP TABLE projects_search;
DROP TABLE projects;
DROP TABLE group_members;

-- Without members there is nothing to a group.
DELETE FROM namespaces WHERE owner_id IS NULL;
DROP TRIGGER namespaces_search_insert;
DROP TRIGGER namespaces_search_delete;
DROP TRIGGER namespaces_search_update;
DROP TABLE namespaces_search;
DROP INDEX groups_by_path;
DROP INDEX groups_by_name;
DROP INDEX groups_name;
DROP INDEX namespaces_by_name_folded;
DROP INDEX namespaces_by_name;
ALTER TABLE namespaces DROP COLUMN updated_at;
ALTER TABLE namespaces DROP COLUMN created_at;
ALTER TABLE namespaces DROP COLUMN avatar;
ALTER TABLE namespaces DROP COLUMN share_with_group_lock;
ALTER TABLE namespaces DROP COLUMN request_access_enabled;
ALTER TABLE namespaces DROP COLUMN lfs_enabled;
ALTER TABLE namespaces DROP COLUMN visibility_level;
ALTER TABLE namespaces DROP COLUMN description;
ALTER TABLE namespaces DROP COLUMN name_folded;
