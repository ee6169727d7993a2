DELETE FROM project_roots WHERE removed;
DELETE FROM namespace_roots WHERE removed;
DELETE FROM user_roots WHERE removed;
DROP TRIGGER project_roots_insert;
DROP TRIGGER project_roots_delete;
DROP TRIGGER namespace_roots_insert;
DROP TRIGGER namespace_roots_delete;
DROP TRIGGER user_roots_insert;
DROP TRIGGER user_roots_delete;
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'REFERENCES project_roots (id)', 'REFERENCES projects (id)')
WHERE type = 'table' AND name IN (
    'issues', 'notes', 'events', 'labels', 'milestones', 'boards',
    'pipelines', 'builds', 'ref_pipelines', 'triggers', 'releases', 'stars',
    'access_requests', 'protected_branches', 'project_hooks'
);
UPDATE sqlite_schema SET sql = replace(sql, 'REFERENCES namespace_roots (id)', 'REFERENCES namespaces (id)')
WHERE type = 'table' AND name = 'group_labels';
UPDATE sqlite_schema SET sql = replace(sql, 'REFERENCES user_roots (id)', 'REFERENCES users (id)')
WHERE type = 'table' AND name IN (
    'issues', 'notes', 'events', 'awards',
    'label_subscriptions', 'issue_subscriptions', 'issue_participants', 'pipelines',
    'builds'
);
PRAGMA writable_schema = RESET;
DROP TABLE project_roots;
DROP TABLE namespace_roots;
DROP TABLE user_roots;
