DROP INDEX shared_runners;
