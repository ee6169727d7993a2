-- Environments that a push left running, because it deleted the branches of too many. As for merge requests, the text
-- of the schema is changed, because SQLite cannot alter a constraint: no stored row changes.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''remove_source_branch''', '''remove_source_branch'', ''stop_environments''')
WHERE type = 'table' AND name = 'repository_tasks';
PRAGMA writable_schema = RESET;
