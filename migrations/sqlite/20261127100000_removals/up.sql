-- Removing a project removes its row here and what gives rights or work to anybody. What there may be very much of
-- hangs on its root instead, which stays until that was removed in steps. So the project is gone at once for whoever
-- looks it up, and nothing of it is left behind, whenever the program stops.
CREATE TABLE project_roots (
    id INTEGER PRIMARY KEY NOT NULL,
    removed BOOLEAN NOT NULL DEFAULT FALSE
);
INSERT INTO project_roots (id) SELECT id FROM projects;
CREATE INDEX project_roots_removed ON project_roots (id) WHERE removed;
CREATE TRIGGER project_roots_insert AFTER INSERT ON projects BEGIN
    INSERT INTO project_roots (id) VALUES (new.id);
END;
CREATE TRIGGER project_roots_delete AFTER DELETE ON projects BEGIN
    UPDATE project_roots SET removed = TRUE WHERE id = old.id;
END;

-- The same for groups: their labels are in each of their projects.
CREATE TABLE namespace_roots (
    id INTEGER PRIMARY KEY NOT NULL,
    removed BOOLEAN NOT NULL DEFAULT FALSE
);
INSERT INTO namespace_roots (id) SELECT id FROM namespaces;
CREATE INDEX namespace_roots_removed ON namespace_roots (id) WHERE removed;
CREATE TRIGGER namespace_roots_insert AFTER INSERT ON namespaces BEGIN
    INSERT INTO namespace_roots (id) VALUES (new.id);
END;
CREATE TRIGGER namespace_roots_delete AFTER DELETE ON namespaces BEGIN
    UPDATE namespace_roots SET removed = TRUE WHERE id = old.id;
END;

-- And for users: what they wrote is in projects of others, whose counters follow step by step.
CREATE TABLE user_roots (
    id INTEGER PRIMARY KEY NOT NULL,
    removed BOOLEAN NOT NULL DEFAULT FALSE
);
INSERT INTO user_roots (id) SELECT id FROM users;
CREATE INDEX user_roots_removed ON user_roots (id) WHERE removed;
CREATE TRIGGER user_roots_insert AFTER INSERT ON users BEGIN
    INSERT INTO user_roots (id) VALUES (new.id);
END;
CREATE TRIGGER user_roots_delete AFTER DELETE ON users BEGIN
    UPDATE user_roots SET removed = TRUE WHERE id = old.id;
END;

-- SQLite cannot alter what a column refers to, and copying the tables would take as long as they are large. That the
-- text of the schema is changed instead is what its documentation recommends where no stored row changes.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'REFERENCES projects (id)', 'REFERENCES project_roots (id)')
WHERE type = 'table' AND name IN (
    'issues', 'notes', 'events', 'labels', 'milestones', 'boards',
    'pipelines', 'builds', 'ref_pipelines', 'triggers', 'releases', 'stars',
    'access_requests', 'protected_branches', 'project_hooks'
);
UPDATE sqlite_schema SET sql = replace(sql, 'REFERENCES namespaces (id)', 'REFERENCES namespace_roots (id)')
WHERE type = 'table' AND name = 'group_labels';
UPDATE sqlite_schema SET sql = replace(sql, 'REFERENCES users (id)', 'REFERENCES user_roots (id)')
WHERE type = 'table' AND name IN (
    'issues', 'notes', 'events', 'awards',
    'label_subscriptions', 'issue_subscriptions', 'issue_participants', 'pipelines',
    'builds'
);
PRAGMA writable_schema = RESET;
