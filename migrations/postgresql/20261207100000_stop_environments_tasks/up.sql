-- Environments that a push left running, because it deleted the branches of too many.
ALTER TABLE repository_tasks DROP CONSTRAINT repository_tasks_kind_check;
ALTER TABLE repository_tasks ADD CONSTRAINT repository_tasks_kind_check
    CHECK (kind IN ('copy', 'import', 'remove_merged',
        'refresh_merge_requests', 'close_requests_of_fork', 'merge_automatically',
        'remove_source_branch', 'stop_environments'));
