-- The projects whose repositories began as copies of others. A project stays here when it is no longer a fork.
CREATE TABLE copied_repositories (
    project_id BIGINT PRIMARY KEY NOT NULL REFERENCES projects (id) ON DELETE CASCADE
);
INSERT INTO copied_repositories (project_id) SELECT id FROM projects WHERE forked_from_id IS NOT NULL;
