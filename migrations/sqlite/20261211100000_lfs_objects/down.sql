DROP TABLE lfs_objects;
DROP TABLE lfs_networks;
DROP INDEX project_roots_of_network;
ALTER TABLE project_roots DROP COLUMN network_id;
