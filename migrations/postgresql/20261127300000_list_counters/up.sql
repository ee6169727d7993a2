-- Milestones know how many issues are for them, as labels do.
ALTER TABLE milestones ADD COLUMN open_issues INTEGER NOT NULL DEFAULT 0 CHECK (open_issues >= 0);
ALTER TABLE milestones ADD COLUMN closed_issues INTEGER NOT NULL DEFAULT 0 CHECK (closed_issues >= 0);
ALTER TABLE milestones ADD COLUMN open_confidential INTEGER NOT NULL DEFAULT 0 CHECK (open_confidential >= 0);
ALTER TABLE milestones ADD COLUMN closed_confidential INTEGER NOT NULL DEFAULT 0 CHECK (closed_confidential >= 0);
UPDATE milestones SET
    open_issues = counted.open_issues,
    closed_issues = counted.closed_issues,
    open_confidential = counted.open_confidential,
    closed_confidential = counted.closed_confidential
FROM (
    SELECT milestone_id,
        count(*) FILTER (WHERE state <> 'closed' AND NOT confidential) AS open_issues,
        count(*) FILTER (WHERE state = 'closed' AND NOT confidential) AS closed_issues,
        count(*) FILTER (WHERE state <> 'closed' AND confidential) AS open_confidential,
        count(*) FILTER (WHERE state = 'closed' AND confidential) AS closed_confidential
    FROM issues WHERE milestone_id IS NOT NULL GROUP BY milestone_id
) AS counted
WHERE counted.milestone_id = milestones.id;
CREATE FUNCTION count_milestone_issue(milestone BIGINT, state TEXT, confidential BOOLEAN, more INTEGER) RETURNS void
LANGUAGE sql AS $$
    UPDATE milestones SET
        open_issues = open_issues + CASE WHEN $2 <> 'closed' AND NOT $3 THEN $4 ELSE 0 END,
        closed_issues = closed_issues + CASE WHEN $2 = 'closed' AND NOT $3 THEN $4 ELSE 0 END,
        open_confidential = open_confidential + CASE WHEN $2 <> 'closed' AND $3 THEN $4 ELSE 0 END,
        closed_confidential = closed_confidential + CASE WHEN $2 = 'closed' AND $3 THEN $4 ELSE 0 END
    WHERE milestones.id = $1
$$;
CREATE FUNCTION count_changed_milestone_issue() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF tg_op = 'UPDATE' THEN
        PERFORM count_milestone_issue(old.milestone_id, old.state, old.confidential, -1);
    END IF;
    PERFORM count_milestone_issue(new.milestone_id, new.state, new.confidential, 1);
    RETURN NULL;
END $$;
CREATE TRIGGER milestone_issues_insert AFTER INSERT ON issues
    FOR EACH ROW WHEN (new.milestone_id IS NOT NULL) EXECUTE FUNCTION count_changed_milestone_issue();
CREATE TRIGGER milestone_issues_update AFTER UPDATE OF milestone_id, state, confidential ON issues
    FOR EACH ROW WHEN (old.milestone_id IS DISTINCT FROM new.milestone_id
        OR (old.state = 'closed') <> (new.state = 'closed') OR old.confidential <> new.confidential)
    EXECUTE FUNCTION count_changed_milestone_issue();
-- Once for all issues of a statement: a row that is changed very often in one transaction becomes slow.
CREATE FUNCTION count_removed_milestone_issues() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE milestones SET
        open_issues = milestones.open_issues - counted.open_issues,
        closed_issues = milestones.closed_issues - counted.closed_issues,
        open_confidential = milestones.open_confidential - counted.open_confidential,
        closed_confidential = milestones.closed_confidential - counted.closed_confidential
    FROM (
        SELECT milestone_id,
            count(*) FILTER (WHERE state <> 'closed' AND NOT confidential) AS open_issues,
            count(*) FILTER (WHERE state = 'closed' AND NOT confidential) AS closed_issues,
            count(*) FILTER (WHERE state <> 'closed' AND confidential) AS open_confidential,
            count(*) FILTER (WHERE state = 'closed' AND confidential) AS closed_confidential
        FROM removed WHERE milestone_id IS NOT NULL GROUP BY milestone_id
    ) AS counted
    WHERE counted.milestone_id = milestones.id;
    RETURN NULL;
END $$;
CREATE TRIGGER milestone_issues_delete AFTER DELETE ON issues
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_removed_milestone_issues();

-- Labels of an issue know its author, so that the issues of an author with a label are found by an index.
ALTER TABLE issue_labels ADD COLUMN author_id BIGINT;
UPDATE issue_labels SET author_id = issues.author_id FROM issues WHERE issues.id = issue_labels.issue_id;
ALTER TABLE issue_labels ALTER COLUMN author_id SET NOT NULL;
CREATE INDEX issue_labels_of_author ON issue_labels (author_id, label_id, issue_id);

-- How many forks a project has. A table of its own: whoever changes a fork does not hold the row of its source.
CREATE TABLE fork_counts (
    project_id BIGINT PRIMARY KEY,
    forks BIGINT NOT NULL
);
INSERT INTO fork_counts (project_id, forks)
SELECT forked_from_id, count(*) FROM projects WHERE forked_from_id IS NOT NULL GROUP BY forked_from_id;
CREATE FUNCTION count_forks() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF tg_op <> 'INSERT' THEN
        UPDATE fork_counts SET forks = forks - 1 WHERE project_id = old.forked_from_id;
    END IF;
    IF tg_op <> 'DELETE' THEN
        INSERT INTO fork_counts (project_id, forks) SELECT new.forked_from_id, 1 WHERE new.forked_from_id IS NOT NULL
        ON CONFLICT (project_id) DO UPDATE SET forks = fork_counts.forks + 1;
    ELSE
        DELETE FROM fork_counts WHERE project_id = old.id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER forks_insert AFTER INSERT ON projects
    FOR EACH ROW WHEN (new.forked_from_id IS NOT NULL) EXECUTE FUNCTION count_forks();
CREATE TRIGGER forks_update AFTER UPDATE OF forked_from_id ON projects
    FOR EACH ROW WHEN (old.forked_from_id IS DISTINCT FROM new.forked_from_id) EXECUTE FUNCTION count_forks();
CREATE TRIGGER forks_delete AFTER DELETE ON projects FOR EACH ROW EXECUTE FUNCTION count_forks();

-- Lists of users are read from their end too, while it is known how long they are.
CREATE TRIGGER list_changes AFTER INSERT OR DELETE ON users
    FOR EACH STATEMENT EXECUTE FUNCTION count_list_change();
CREATE TRIGGER list_changes_update AFTER UPDATE OF state, external, search_text ON users
    FOR EACH ROW WHEN (old.state <> new.state OR old.external <> new.external OR old.search_text <> new.search_text)
    EXECUTE FUNCTION count_list_change();

-- Projects of a group are read in their order, until a page of them is found. On SQLite the index of unique names has
-- that of names too.
CREATE INDEX projects_inside_by_name ON projects (namespace_id, name, id);
CREATE INDEX projects_inside_by_path ON projects (namespace_id, path, id);
CREATE INDEX projects_inside_by_created_at ON projects (namespace_id, created_at, id);
CREATE INDEX projects_inside_by_updated_at ON projects (namespace_id, updated_at, id);
CREATE INDEX projects_inside_by_last_activity_at ON projects (namespace_id, last_activity_at, id);
