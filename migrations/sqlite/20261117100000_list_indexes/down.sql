DROP TRIGGER namespaces_search_insert;
DROP TRIGGER namespaces_search_delete;
DROP TRIGGER namespaces_search_update;
DROP TABLE namespaces_search_terms;
DROP TABLE namespaces_search;
DROP VIEW namespaces_search_text;
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

DROP TRIGGER projects_search_insert;
DROP TRIGGER projects_search_delete;
DROP TRIGGER projects_search_update;
DROP TABLE projects_search_terms;
DROP TABLE projects_search;
DROP VIEW projects_search_text;
CREATE VIRTUAL TABLE projects_search USING fts5 (
    search_text, content = 'projects', content_rowid = 'id', tokenize = 'trigram case_sensitive 1'
);
INSERT INTO projects_search (projects_search) VALUES ('rebuild');
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

DROP TRIGGER list_changes_projects_insert;
DROP TRIGGER list_changes_projects_delete;
DROP TRIGGER list_changes_projects_update;
DROP TRIGGER list_changes_namespaces_insert;
DROP TRIGGER list_changes_namespaces_delete;
DROP TRIGGER list_changes_namespaces_update;
DROP TRIGGER list_changes_group_members_insert;
DROP TRIGGER list_changes_group_members_delete;
DROP TRIGGER list_changes_group_members_update;
DROP TRIGGER list_changes_project_members_insert;
DROP TRIGGER list_changes_project_members_delete;
DROP TRIGGER list_changes_project_members_update;
DROP TRIGGER list_changes_project_shares_insert;
DROP TRIGGER list_changes_project_shares_delete;
DROP TRIGGER list_changes_project_shares_update;
DROP TABLE list_changes;
