DELETE FROM repository_tasks WHERE kind = 'stop_environments';
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''remove_source_branch'', ''stop_environments''', '''remove_source_branch''')
WHERE type = 'table' AND name = 'repository_tasks';
PRAGMA writable_schema = RESET;
