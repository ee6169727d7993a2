DROP TABLE variables;
DROP TABLE trigger_requests;
DROP TABLE triggers;
DROP TABLE builds;
DROP TABLE runner_projects;
DROP TABLE runners;
DROP TABLE build_definitions;
DROP TABLE pipelines;
