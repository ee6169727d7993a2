DROP INDEX issues_everywhere_by_updated_at;
DROP INDEX issues_everywhere_by_created_at;
DROP TABLE ref_pipelines;
DROP TABLE project_settings;
