-- How many projects a user has in the own namespace, kept with each change. Of groups nobody asks for it.
ALTER TABLE namespaces ADD COLUMN personal_projects BIGINT NOT NULL DEFAULT 0;
UPDATE namespaces SET personal_projects = (SELECT count(*) FROM projects WHERE projects.namespace_id = namespaces.id)
WHERE owner_id IS NOT NULL;
CREATE TRIGGER personal_projects_insert AFTER INSERT ON projects BEGIN
    UPDATE namespaces SET personal_projects = personal_projects + 1
    WHERE id = new.namespace_id AND owner_id IS NOT NULL;
END;
CREATE TRIGGER personal_projects_delete AFTER DELETE ON projects BEGIN
    UPDATE namespaces SET personal_projects = personal_projects - 1
    WHERE id = old.namespace_id AND owner_id IS NOT NULL;
END;
CREATE TRIGGER personal_projects_move AFTER UPDATE OF namespace_id ON projects
WHEN old.namespace_id <> new.namespace_id BEGIN
    UPDATE namespaces SET personal_projects = personal_projects - 1
    WHERE id = old.namespace_id AND owner_id IS NOT NULL;
    UPDATE namespaces SET personal_projects = personal_projects + 1
    WHERE id = new.namespace_id AND owner_id IS NOT NULL;
END;
