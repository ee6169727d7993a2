DROP INDEX project_members_ending;
DROP INDEX group_members_ending;
DROP TABLE access_requests;
