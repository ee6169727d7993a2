DELETE FROM repository_tasks WHERE data IS NOT NULL;
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql,
    '''copy'', ''import'', ''remove_merged'', ''refresh_merge_requests'', ''close_requests_of_fork'', ''merge_automatically'', ''remove_source_branch''',
    '''copy'', ''import'', ''remove_merged''')
WHERE type = 'table' AND name = 'repository_tasks';
PRAGMA writable_schema = RESET;
ALTER TABLE repository_tasks DROP COLUMN data;
DROP TABLE merge_request_participants;
DROP TABLE merge_request_subscriptions;
ALTER TABLE labels DROP COLUMN open_merge_requests;
DROP TABLE merge_request_labels;
DROP TABLE merge_request_versions;
DROP TABLE merge_requests;
ALTER TABLE iids DROP COLUMN merge_requests;
