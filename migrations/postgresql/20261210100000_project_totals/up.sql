-- The numbers of issues and merge requests of each project, so that the total of a list reads one row.
ALTER TABLE iids ADD COLUMN open_issues INTEGER NOT NULL DEFAULT 0 CHECK (open_issues >= 0);
ALTER TABLE iids ADD COLUMN closed_issues INTEGER NOT NULL DEFAULT 0 CHECK (closed_issues >= 0);
ALTER TABLE iids ADD COLUMN open_confidential INTEGER NOT NULL DEFAULT 0 CHECK (open_confidential >= 0);
ALTER TABLE iids ADD COLUMN closed_confidential INTEGER NOT NULL DEFAULT 0 CHECK (closed_confidential >= 0);
ALTER TABLE iids ADD COLUMN open_requests INTEGER NOT NULL DEFAULT 0 CHECK (open_requests >= 0);
ALTER TABLE iids ADD COLUMN closed_requests INTEGER NOT NULL DEFAULT 0 CHECK (closed_requests >= 0);
ALTER TABLE iids ADD COLUMN merged_requests INTEGER NOT NULL DEFAULT 0 CHECK (merged_requests >= 0);
UPDATE iids SET
    open_issues = counted.open_issues,
    closed_issues = counted.closed_issues,
    open_confidential = counted.open_confidential,
    closed_confidential = counted.closed_confidential
FROM (
    SELECT project_id,
        count(*) FILTER (WHERE state <> 'closed' AND NOT confidential) AS open_issues,
        count(*) FILTER (WHERE state = 'closed' AND NOT confidential) AS closed_issues,
        count(*) FILTER (WHERE state <> 'closed' AND confidential) AS open_confidential,
        count(*) FILTER (WHERE state = 'closed' AND confidential) AS closed_confidential
    FROM issues GROUP BY project_id
) AS counted
WHERE counted.project_id = iids.project_id;
UPDATE iids SET
    open_requests = counted.open_requests,
    closed_requests = counted.closed_requests,
    merged_requests = counted.merged_requests
FROM (
    SELECT project_id,
        count(*) FILTER (WHERE state IN ('opened', 'reopened')) AS open_requests,
        count(*) FILTER (WHERE state = 'closed') AS closed_requests,
        count(*) FILTER (WHERE state = 'merged') AS merged_requests
    FROM merge_requests GROUP BY project_id
) AS counted
WHERE counted.project_id = iids.project_id;

-- A transaction that changes an issue or merge request holds the lock of its project, so writers do not wait for each
-- other here. Inserted and deleted rows are counted once per statement: a row that is updated very often in one
-- transaction becomes slow.
CREATE FUNCTION count_project_issues() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE iids SET
        open_issues = iids.open_issues + sign * counted.open_issues,
        closed_issues = iids.closed_issues + sign * counted.closed_issues,
        open_confidential = iids.open_confidential + sign * counted.open_confidential,
        closed_confidential = iids.closed_confidential + sign * counted.closed_confidential
    FROM (
        SELECT project_id,
            CASE tg_op WHEN 'INSERT' THEN 1 ELSE -1 END AS sign,
            count(*) FILTER (WHERE state <> 'closed' AND NOT confidential) AS open_issues,
            count(*) FILTER (WHERE state = 'closed' AND NOT confidential) AS closed_issues,
            count(*) FILTER (WHERE state <> 'closed' AND confidential) AS open_confidential,
            count(*) FILTER (WHERE state = 'closed' AND confidential) AS closed_confidential
        FROM changed GROUP BY project_id
    ) AS counted
    WHERE counted.project_id = iids.project_id;
    RETURN NULL;
END $$;
CREATE TRIGGER project_issues_insert AFTER INSERT ON issues
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_project_issues();
CREATE TRIGGER project_issues_delete AFTER DELETE ON issues
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_project_issues();
CREATE FUNCTION count_changed_project_issue() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE iids SET
        open_issues = open_issues
            - (old.state <> 'closed' AND NOT old.confidential)::int
            + (new.state <> 'closed' AND NOT new.confidential)::int,
        closed_issues = closed_issues
            - (old.state = 'closed' AND NOT old.confidential)::int
            + (new.state = 'closed' AND NOT new.confidential)::int,
        open_confidential = open_confidential
            - (old.state <> 'closed' AND old.confidential)::int
            + (new.state <> 'closed' AND new.confidential)::int,
        closed_confidential = closed_confidential
            - (old.state = 'closed' AND old.confidential)::int
            + (new.state = 'closed' AND new.confidential)::int
    WHERE project_id = new.project_id;
    RETURN NULL;
END $$;
CREATE TRIGGER project_issues_update AFTER UPDATE OF state, confidential ON issues
    FOR EACH ROW WHEN ((old.state = 'closed') <> (new.state = 'closed') OR old.confidential <> new.confidential)
    EXECUTE FUNCTION count_changed_project_issue();

CREATE FUNCTION count_project_requests() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE iids SET
        open_requests = iids.open_requests + sign * counted.open_requests,
        closed_requests = iids.closed_requests + sign * counted.closed_requests,
        merged_requests = iids.merged_requests + sign * counted.merged_requests
    FROM (
        SELECT project_id,
            CASE tg_op WHEN 'INSERT' THEN 1 ELSE -1 END AS sign,
            count(*) FILTER (WHERE state IN ('opened', 'reopened')) AS open_requests,
            count(*) FILTER (WHERE state = 'closed') AS closed_requests,
            count(*) FILTER (WHERE state = 'merged') AS merged_requests
        FROM changed GROUP BY project_id
    ) AS counted
    WHERE counted.project_id = iids.project_id;
    RETURN NULL;
END $$;
CREATE TRIGGER project_requests_insert AFTER INSERT ON merge_requests
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_project_requests();
CREATE TRIGGER project_requests_delete AFTER DELETE ON merge_requests
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_project_requests();
CREATE FUNCTION count_changed_project_request() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE iids SET
        open_requests = open_requests
            - (old.state IN ('opened', 'reopened'))::int + (new.state IN ('opened', 'reopened'))::int,
        closed_requests = closed_requests - (old.state = 'closed')::int + (new.state = 'closed')::int,
        merged_requests = merged_requests - (old.state = 'merged')::int + (new.state = 'merged')::int
    WHERE project_id = new.project_id;
    RETURN NULL;
END $$;
CREATE TRIGGER project_requests_update AFTER UPDATE OF state ON merge_requests
    FOR EACH ROW WHEN (old.state <> new.state) EXECUTE FUNCTION count_changed_project_request();
