-- How often the token by which runners register for all projects was replaced. It is made of this number and the key of
-- the installation.
CREATE TABLE runner_registration (
    id BIGINT PRIMARY KEY NOT NULL CHECK (id = 1),
    rotations BIGINT NOT NULL
);
INSERT INTO runner_registration (id, rotations) VALUES (1, 0);
