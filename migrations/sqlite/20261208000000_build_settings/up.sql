-- How long a build may run, in seconds, and whether runners update their working copies instead of cloning.
ALTER TABLE project_settings ADD COLUMN build_timeout INTEGER;
ALTER TABLE project_settings ADD COLUMN build_git_fetch BOOLEAN;
