-- The list of the runners of a project reads all shared ones.
CREATE INDEX shared_runners ON runners (id) WHERE is_shared;
