-- Milestones know how many issues are for them, as labels do.
ALTER TABLE milestones ADD COLUMN open_issues INTEGER NOT NULL DEFAULT 0 CHECK (open_issues >= 0);
ALTER TABLE milestones ADD COLUMN closed_issues INTEGER NOT NULL DEFAULT 0 CHECK (closed_issues >= 0);
ALTER TABLE milestones ADD COLUMN open_confidential INTEGER NOT NULL DEFAULT 0 CHECK (open_confidential >= 0);
ALTER TABLE milestones ADD COLUMN closed_confidential INTEGER NOT NULL DEFAULT 0 CHECK (closed_confidential >= 0);
UPDATE milestones SET
    open_issues = (SELECT count(*) FROM issues
        WHERE issues.milestone_id = milestones.id AND state <> 'closed' AND NOT confidential),
    closed_issues = (SELECT count(*) FROM issues
        WHERE issues.milestone_id = milestones.id AND state = 'closed' AND NOT confidential),
    open_confidential = (SELECT count(*) FROM issues
        WHERE issues.milestone_id = milestones.id AND state <> 'closed' AND confidential),
    closed_confidential = (SELECT count(*) FROM issues
        WHERE issues.milestone_id = milestones.id AND state = 'closed' AND confidential);
CREATE TRIGGER milestone_issues_insert AFTER INSERT ON issues WHEN new.milestone_id IS NOT NULL BEGIN
    UPDATE milestones SET
        open_issues = open_issues + (new.state <> 'closed' AND NOT new.confidential),
        closed_issues = closed_issues + (new.state = 'closed' AND NOT new.confidential),
        open_confidential = open_confidential + (new.state <> 'closed' AND new.confidential),
        closed_confidential = closed_confidential + (new.state = 'closed' AND new.confidential)
    WHERE id = new.milestone_id;
END;
CREATE TRIGGER milestone_issues_update AFTER UPDATE OF milestone_id, state, confidential ON issues
WHEN old.milestone_id IS NOT new.milestone_id
    OR (old.state = 'closed') <> (new.state = 'closed') OR old.confidential <> new.confidential
BEGIN
    UPDATE milestones SET
        open_issues = open_issues - (old.state <> 'closed' AND NOT old.confidential),
        closed_issues = closed_issues - (old.state = 'closed' AND NOT old.confidential),
        open_confidential = open_confidential - (old.state <> 'closed' AND old.confidential),
        closed_confidential = closed_confidential - (old.state = 'closed' AND old.confidential)
    WHERE id = old.milestone_id;
    UPDATE milestones SET
        open_issues = open_issues + (new.state <> 'closed' AND NOT new.confidential),
        closed_issues = closed_issues + (new.state = 'closed' AND NOT new.confidential),
        open_confidential = open_confidential + (new.state <> 'closed' AND new.confidential),
        closed_confidential = closed_confidential + (new.state = 'closed' AND new.confidential)
    WHERE id = new.milestone_id;
END;
CREATE TRIGGER milestone_issues_delete AFTER DELETE ON issues WHEN old.milestone_id IS NOT NULL BEGIN
    UPDATE milestones SET
        open_issues = open_issues - (old.state <> 'closed' AND NOT old.confidential),
        closed_issues = closed_issues - (old.state = 'closed' AND NOT old.confidential),
        open_confidential = open_confidential - (old.state <> 'closed' AND old.confidential),
        closed_confidential = closed_confidential - (old.state = 'closed' AND old.confidential)
    WHERE id = old.milestone_id;
END;

-- Labels of an issue know its author, so that the issues of an author with a label are found by an index.
CREATE TABLE issue_labels_with_authors (
    issue_id BIGINT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    label_id BIGINT NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
    author_id BIGINT NOT NULL,
    PRIMARY KEY (issue_id, label_id)
) WITHOUT ROWID;
INSERT INTO issue_labels_with_authors (issue_id, label_id, author_id)
SELECT issue_labels.issue_id, issue_labels.label_id, issues.author_id
FROM issue_labels JOIN issues ON issues.id = issue_labels.issue_id;
DROP TABLE issue_labels;
ALTER TABLE issue_labels_with_authors RENAME TO issue_labels;
CREATE INDEX issue_labels_of_label ON issue_labels (label_id, issue_id);
CREATE INDEX issue_labels_of_author ON issue_labels (author_id, label_id, issue_id);

-- How many forks a project has.
CREATE TABLE fork_counts (
    project_id INTEGER PRIMARY KEY NOT NULL,
    forks BIGINT NOT NULL
);
INSERT INTO fork_counts (project_id, forks)
SELECT forked_from_id, count(*) FROM projects WHERE forked_from_id IS NOT NULL GROUP BY forked_from_id;
CREATE TRIGGER forks_insert AFTER INSERT ON projects WHEN new.forked_from_id IS NOT NULL BEGIN
    INSERT INTO fork_counts (project_id, forks) VALUES (new.forked_from_id, 1)
    ON CONFLICT (project_id) DO UPDATE SET forks = forks + 1;
END;
CREATE TRIGGER forks_update AFTER UPDATE OF forked_from_id ON projects
WHEN old.forked_from_id IS NOT new.forked_from_id BEGIN
    UPDATE fork_counts SET forks = forks - 1 WHERE project_id = old.forked_from_id;
    INSERT INTO fork_counts (project_id, forks) SELECT new.forked_from_id, 1 WHERE new.forked_from_id IS NOT NULL
    ON CONFLICT (project_id) DO UPDATE SET forks = forks + 1;
END;
CREATE TRIGGER forks_delete AFTER DELETE ON projects BEGIN
    UPDATE fork_counts SET forks = forks - 1 WHERE project_id = old.forked_from_id;
    DELETE FROM fork_counts WHERE project_id = old.id;
END;

-- Lists of users are read from their end too, while it is known how long they are.
CREATE TRIGGER list_changes_users_insert AFTER INSERT ON users BEGIN
    UPDATE list_changes SET changes = changes + 1;
END;
CREATE TRIGGER list_changes_users_delete AFTER DELETE ON users BEGIN
    UPDATE list_changes SET changes = changes + 1;
END;
CREATE TRIGGER list_changes_users_update AFTER UPDATE OF state, external, search_text ON users
WHEN old.state <> new.state OR old.external <> new.external OR old.search_text <> new.search_text BEGIN
    UPDATE list_changes SET changes = changes + 1;
END;

-- Projects of a group are read in their order, until a page of them is found. The index of unique names has
-- that of names already.
CREATE INDEX projects_inside_by_path ON projects (namespace_id, path, id);
CREATE INDEX projects_inside_by_created_at ON projects (namespace_id, created_at, id);
CREATE INDEX projects_inside_by_updated_at ON projects (namespace_id, updated_at, id);
CREATE INDEX projects_inside_by_last_activity_at ON projects (namespace_id, last_activity_at, id);
