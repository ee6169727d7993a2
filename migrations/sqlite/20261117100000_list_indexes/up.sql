-- Goes up with everything that decides which projects and groups are in a list, so a total is exact as long
-- as it stands still. There is one row here; PostgreSQL has one for each connection.
CREATE TABLE list_changes (
    writer INTEGER PRIMARY KEY NOT NULL,
    changes BIGINT NOT NULL
);
INSERT INTO list_changes (writer, changes) VALUES (0, 0);
CREATE TRIGGER list_changes_projects_insert AFTER INSERT ON projects BEGIN
    UPDATE list_changes SET changes = changes + 1;
END;
CREATE TRIGGER list_changes_projects_delete AFTER DELETE ON projects BEGIN
    UPDATE list_changes SET changes = changes + 1;
END;
CREATE TRIGGER list_changes_projects_update AFTER UPDATE OF namespace_id, visibility_level, archived, search_text ON projects BEGIN
    UPDATE list_changes SET changes = changes + 1;
END;
CREATE TRIGGER list_changes_namespaces_insert AFTER INSERT ON namespaces BEGIN
    UPDATE list_changes SET changes = changes + 1;
END;
CREATE TRIGGER list_changes_namespaces_delete AFTER DELETE ON namespaces BEGIN
    UPDATE list_changes SET changes = changes + 1;
END;
CREATE TRIGGER list_changes_namespaces_update AFTER UPDATE OF name_folded, path_folded, owner_id, visibility_level, share_with_group_lock ON namespaces BEGIN
    UPDATE list_changes SET changes = changes + 1;
END;
CREATE TRIGGER list_changes_group_members_insert AFTER INSERT ON group_members BEGIN
    UPDATE list_changes SET changes = changes + 1;
END;
CREATE TRIGGER list_changes_group_members_delete AFTER DELETE ON group_members BEGIN
    UPDATE list_changes SET changes = changes + 1;
END;
CREATE TRIGGER list_changes_group_members_update AFTER UPDATE ON group_members BEGIN
    UPDATE list_changes SET changes = changes + 1;
END;
CREATE TRIGGER list_changes_project_members_insert AFTER INSERT ON project_members BEGIN
    UPDATE list_changes SET changes = changes + 1;
END;
CREATE TRIGGER list_changes_project_members_delete AFTER DELETE ON project_members BEGIN
    UPDATE list_changes SET changes = changes + 1;
END;
CREATE TRIGGER list_changes_project_members_update AFTER UPDATE ON project_members BEGIN
    UPDATE list_changes SET changes = changes + 1;
END;
CREATE TRIGGER list_changes_project_shares_insert AFTER INSERT ON project_shares BEGIN
    UPDATE list_changes SET changes = changes + 1;
END;
CREATE TRIGGER list_changes_project_shares_delete AFTER DELETE ON project_shares BEGIN
    UPDATE list_changes SET changes = changes + 1;
END;
CREATE TRIGGER list_changes_project_shares_update AFTER UPDATE ON project_shares BEGIN
    UPDATE list_changes SET changes = changes + 1;
END;

-- Any one or two letters begin three letters in a row, if two more letters follow all of the text. So the terms of
-- the full-text indexes, of which these are lists, find one or two letters too.
DROP TRIGGER projects_search_insert;
DROP TRIGGER projects_search_delete;
DROP TRIGGER projects_search_update;
DROP TABLE projects_search;
CREATE VIEW projects_search_text AS
    SELECT id, search_text || char(1, 1) AS search_text FROM projects;
CREATE VIRTUAL TABLE projects_search USING fts5 (
    search_text, content = 'projects_search_text', content_rowid = 'id',
    tokenize = 'trigram case_sensitive 1'
);
INSERT INTO projects_search (projects_search) VALUES ('rebuild');
CREATE VIRTUAL TABLE projects_search_terms USING fts5vocab (projects_search, instance);
CREATE TRIGGER projects_search_insert AFTER INSERT ON projects BEGIN
    INSERT INTO projects_search (rowid, search_text)
    VALUES (new.id, new.search_text || char(1, 1));
END;
CREATE TRIGGER projects_search_delete AFTER DELETE ON projects BEGIN
    INSERT INTO projects_search (projects_search, rowid, search_text)
    VALUES ('delete', old.id, old.search_text || char(1, 1));
END;
CREATE TRIGGER projects_search_update AFTER UPDATE OF search_text ON projects
WHEN old.search_text <> new.search_text BEGIN
    INSERT INTO projects_search (projects_search, rowid, search_text)
    VALUES ('delete', old.id, old.search_text || char(1, 1));
    INSERT INTO projects_search (rowid, search_text)
    VALUES (new.id, new.search_text || char(1, 1));
END;

DROP TRIGGER namespaces_search_insert;
DROP TRIGGER namespaces_search_delete;
DROP TRIGGER namespaces_search_update;
DROP TABLE namespaces_search;
CREATE VIEW namespaces_search_text AS
    SELECT id, name_folded || char(1, 1) AS name_folded, path_folded || char(1, 1) AS path_folded
    FROM namespaces;
CREATE VIRTUAL TABLE namespaces_search USING fts5 (
    name_folded, path_folded, content = 'namespaces_search_text', content_rowid = 'id',
    tokenize = 'trigram case_sensitive 1'
);
INSERT INTO namespaces_search (namespaces_search) VALUES ('rebuild');
CREATE VIRTUAL TABLE namespaces_search_terms USING fts5vocab (namespaces_search, instance);
CREATE TRIGGER namespaces_search_insert AFTER INSERT ON namespaces BEGIN
    INSERT INTO namespaces_search (rowid, name_folded, path_folded)
    VALUES (new.id, new.name_folded || char(1, 1), new.path_folded || char(1, 1));
END;
CREATE TRIGGER namespaces_search_delete AFTER DELETE ON namespaces BEGIN
    INSERT INTO namespaces_search (namespaces_search, rowid, name_folded, path_folded)
    VALUES ('delete', old.id, old.name_folded || char(1, 1), old.path_folded || char(1, 1));
END;
CREATE TRIGGER namespaces_search_update AFTER UPDATE OF name_folded, path_folded ON namespaces
WHEN old.name_folded <> new.name_folded OR old.path_folded <> new.path_folded BEGIN
    INSERT INTO namespaces_search (namespaces_search, rowid, name_folded, path_folded)
    VALUES ('delete', old.id, old.name_folded || char(1, 1), old.path_folded || char(1, 1));
    INSERT INTO namespaces_search (rowid, name_folded, path_folded)
    VALUES (new.id, new.name_folded || char(1, 1), new.path_folded || char(1, 1));
END;
