DROP TABLE settled_changes;
DROP TABLE repository_tasks;
DROP TABLE releases;
DROP TABLE protected_branches;
ALTER TABLE projects DROP COLUMN default_branch;
