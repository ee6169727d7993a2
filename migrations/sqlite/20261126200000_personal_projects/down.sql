DROP TRIGGER personal_projects_move;
DROP TRIGGER personal_projects_delete;
DROP TRIGGER personal_projects_insert;
ALTER TABLE namespaces DROP COLUMN personal_projects;
