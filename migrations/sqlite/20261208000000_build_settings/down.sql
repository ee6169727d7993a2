ALTER TABLE project_settings DROP COLUMN build_git_fetch;
ALTER TABLE project_settings DROP COLUMN build_timeout;
