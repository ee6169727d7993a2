DROP TABLE copied_repositories;
