DROP TRIGGER personal_projects_move ON projects;
DROP TRIGGER personal_projects ON projects;
DROP FUNCTION count_personal_projects();
ALTER TABLE namespaces DROP COLUMN personal_projects;
