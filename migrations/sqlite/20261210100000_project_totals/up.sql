-- The numbers of issues and merge requests of each project, so that the total of a list reads one row.
ALTER TABLE iids ADD COLUMN open_issues INTEGER NOT NULL DEFAULT 0 CHECK (open_issues >= 0);
ALTER TABLE iids ADD COLUMN closed_issues INTEGER NOT NULL DEFAULT 0 CHECK (closed_issues >= 0);
ALTER TABLE iids ADD COLUMN open_confidential INTEGER NOT NULL DEFAULT 0 CHECK (open_confidential >= 0);
ALTER TABLE iids ADD COLUMN closed_confidential INTEGER NOT NULL DEFAULT 0 CHECK (closed_confidential >= 0);
ALTER TABLE iids ADD COLUMN open_requests INTEGER NOT NULL DEFAULT 0 CHECK (open_requests >= 0);
ALTER TABLE iids ADD COLUMN closed_requests INTEGER NOT NULL DEFAULT 0 CHECK (closed_requests >= 0);
ALTER TABLE iids ADD COLUMN merged_requests INTEGER NOT NULL DEFAULT 0 CHECK (merged_requests >= 0);
UPDATE iids SET
    open_issues = (SELECT count(*) FROM issues
        WHERE issues.project_id = iids.project_id AND state <> 'closed' AND NOT confidential),
    closed_issues = (SELECT count(*) FROM issues
        WHERE issues.project_id = iids.project_id AND state = 'closed' AND NOT confidential),
    open_confidential = (SELECT count(*) FROM issues
        WHERE issues.project_id = iids.project_id AND state <> 'closed' AND confidential),
    closed_confidential = (SELECT count(*) FROM issues
        WHERE issues.project_id = iids.project_id AND state = 'closed' AND confidential),
    open_requests = (SELECT count(*) FROM merge_requests
        WHERE merge_requests.project_id = iids.project_id AND state IN ('opened', 'reopened')),
    closed_requests = (SELECT count(*) FROM merge_requests
        WHERE merge_requests.project_id = iids.project_id AND state = 'closed'),
    merged_requests = (SELECT count(*) FROM merge_requests
        WHERE merge_requests.project_id = iids.project_id AND state = 'merged');

CREATE TRIGGER project_issues_insert AFTER INSERT ON issues BEGIN
    UPDATE iids SET
        open_issues = open_issues + (new.state <> 'closed' AND NOT new.confidential),
        closed_issues = closed_issues + (new.state = 'closed' AND NOT new.confidential),
        open_confidential = open_confidential + (new.state <> 'closed' AND new.confidential),
        closed_confidential = closed_confidential + (new.state = 'closed' AND new.confidential)
    WHERE project_id = new.project_id;
END;
CREATE TRIGGER project_issues_update AFTER UPDATE OF state, confidential ON issues
WHEN (old.state = 'closed') <> (new.state = 'closed') OR old.confidential <> new.confidential
BEGIN
    UPDATE iids SET
        open_issues = open_issues
            - (old.state <> 'closed' AND NOT old.confidential) + (new.state <> 'closed' AND NOT new.confidential),
        closed_issues = closed_issues
            - (old.state = 'closed' AND NOT old.confidential) + (new.state = 'closed' AND NOT new.confidential),
        open_confidential = open_confidential
            - (old.state <> 'closed' AND old.confidential) + (new.state <> 'closed' AND new.confidential),
        closed_confidential = closed_confidential
            - (old.state = 'closed' AND old.confidential) + (new.state = 'closed' AND new.confidential)
    WHERE project_id = new.project_id;
END;
CREATE TRIGGER project_issues_delete AFTER DELETE ON issues BEGIN
    UPDATE iids SET
        open_issues = open_issues - (old.state <> 'closed' AND NOT old.confidential),
        closed_issues = closed_issues - (old.state = 'closed' AND NOT old.confidential),
        open_confidential = open_confidential - (old.state <> 'closed' AND old.confidential),
        closed_confidential = closed_confidential - (old.state = 'closed' AND old.confidential)
    WHERE project_id = old.project_id;
END;

CREATE TRIGGER project_requests_insert AFTER INSERT ON merge_requests BEGIN
    UPDATE iids SET
        open_requests = open_requests + (new.state IN ('opened', 'reopened')),
        closed_requests = closed_requests + (new.state = 'closed'),
        merged_requests = merged_requests + (new.state = 'merged')
    WHERE project_id = new.project_id;
END;
CREATE TRIGGER project_requests_update AFTER UPDATE OF state ON merge_requests WHEN old.state <> new.state BEGIN
    UPDATE iids SET
        open_requests = open_requests
            - (old.state IN ('opened', 'reopened')) + (new.state IN ('opened', 'reopened')),
        closed_requests = closed_requests - (old.state = 'closed') + (new.state = 'closed'),
        merged_requests = merged_requests - (old.state = 'merged') + (new.state = 'merged')
    WHERE project_id = new.project_id;
END;
CREATE TRIGGER project_requests_delete AFTER DELETE ON merge_requests BEGIN
    UPDATE iids SET
        open_requests = open_requests - (old.state IN ('opened', 'reopened')),
        closed_requests = closed_requests - (old.state = 'closed'),
        merged_requests = merged_requests - (old.state = 'merged')
    WHERE project_id = old.project_id;
END;
