DROP TABLE runner_registration;
