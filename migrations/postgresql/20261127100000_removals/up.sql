-- Removing a project removes its row here and what gives rights or work to anybody. What there may be very much of
-- hangs on its root instead, which stays until that was removed in steps. So the project is gone at once for whoever
-- looks it up, and nothing of it is left behind, whenever the program stops.
CREATE TABLE project_roots (
    id BIGINT PRIMARY KEY NOT NULL,
    removed BOOLEAN NOT NULL DEFAULT FALSE
);
INSERT INTO project_roots (id) SELECT id FROM projects;
CREATE INDEX project_roots_removed ON project_roots (id) WHERE removed;

-- The same for groups: their labels are in each of their projects.
CREATE TABLE namespace_roots (
    id BIGINT PRIMARY KEY NOT NULL,
    removed BOOLEAN NOT NULL DEFAULT FALSE
);
INSERT INTO namespace_roots (id) SELECT id FROM namespaces;
CREATE INDEX namespace_roots_removed ON namespace_roots (id) WHERE removed;

-- And for users: what they wrote is in projects of others, whose counters follow step by step.
CREATE TABLE user_roots (
    id BIGINT PRIMARY KEY NOT NULL,
    removed BOOLEAN NOT NULL DEFAULT FALSE
);
INSERT INTO user_roots (id) SELECT id FROM users;
CREATE INDEX user_roots_removed ON user_roots (id) WHERE removed;

CREATE FUNCTION add_root() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    EXECUTE format('INSERT INTO %I (id) VALUES ($1)', tg_argv[0]) USING new.id;
    RETURN NULL;
END $$;
CREATE FUNCTION mark_root() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    EXECUTE format('UPDATE %I SET removed = TRUE WHERE id = $1', tg_argv[0]) USING old.id;
    RETURN NULL;
END $$;
CREATE TRIGGER project_roots_insert AFTER INSERT ON projects
    FOR EACH ROW EXECUTE FUNCTION add_root('project_roots');
CREATE TRIGGER project_roots_delete AFTER DELETE ON projects
    FOR EACH ROW EXECUTE FUNCTION mark_root('project_roots');
CREATE TRIGGER namespace_roots_insert AFTER INSERT ON namespaces
    FOR EACH ROW EXECUTE FUNCTION add_root('namespace_roots');
CREATE TRIGGER namespace_roots_delete AFTER DELETE ON namespaces
    FOR EACH ROW EXECUTE FUNCTION mark_root('namespace_roots');
CREATE TRIGGER user_roots_insert AFTER INSERT ON users
    FOR EACH ROW EXECUTE FUNCTION add_root('user_roots');
CREATE TRIGGER user_roots_delete AFTER DELETE ON users
    FOR EACH ROW EXECUTE FUNCTION mark_root('user_roots');

ALTER TABLE issues DROP CONSTRAINT issues_project_id_fkey,
    ADD CONSTRAINT issues_project_id_fkey FOREIGN KEY (project_id) REFERENCES project_roots (id) ON DELETE CASCADE;
ALTER TABLE notes DROP CONSTRAINT notes_project_id_fkey,
    ADD CONSTRAINT notes_project_id_fkey FOREIGN KEY (project_id) REFERENCES project_roots (id) ON DELETE CASCADE;
ALTER TABLE events DROP CONSTRAINT events_project_id_fkey,
    ADD CONSTRAINT events_project_id_fkey FOREIGN KEY (project_id) REFERENCES project_roots (id) ON DELETE CASCADE;
ALTER TABLE labels DROP CONSTRAINT labels_project_id_fkey,
    ADD CONSTRAINT labels_project_id_fkey FOREIGN KEY (project_id) REFERENCES project_roots (id) ON DELETE CASCADE;
ALTER TABLE milestones DROP CONSTRAINT milestones_project_id_fkey,
    ADD CONSTRAINT milestones_project_id_fkey FOREIGN KEY (project_id) REFERENCES project_roots (id) ON DELETE CASCADE;
ALTER TABLE boards DROP CONSTRAINT boards_project_id_fkey,
    ADD CONSTRAINT boards_project_id_fkey FOREIGN KEY (project_id) REFERENCES project_roots (id) ON DELETE CASCADE;
ALTER TABLE pipelines DROP CONSTRAINT pipelines_project_id_fkey,
    ADD CONSTRAINT pipelines_project_id_fkey FOREIGN KEY (project_id) REFERENCES project_roots (id) ON DELETE CASCADE;
ALTER TABLE builds DROP CONSTRAINT builds_project_id_fkey,
    ADD CONSTRAINT builds_project_id_fkey FOREIGN KEY (project_id) REFERENCES project_roots (id) ON DELETE CASCADE;
ALTER TABLE ref_pipelines DROP CONSTRAINT ref_pipelines_project_id_fkey,
    ADD CONSTRAINT ref_pipelines_project_id_fkey FOREIGN KEY (project_id) REFERENCES project_roots (id) ON DELETE CASCADE;
ALTER TABLE triggers DROP CONSTRAINT triggers_project_id_fkey,
    ADD CONSTRAINT triggers_project_id_fkey FOREIGN KEY (project_id) REFERENCES project_roots (id) ON DELETE CASCADE;
ALTER TABLE releases DROP CONSTRAINT releases_project_id_fkey,
    ADD CONSTRAINT releases_project_id_fkey FOREIGN KEY (project_id) REFERENCES project_roots (id) ON DELETE CASCADE;
ALTER TABLE stars DROP CONSTRAINT stars_project_id_fkey,
    ADD CONSTRAINT stars_project_id_fkey FOREIGN KEY (project_id) REFERENCES project_roots (id) ON DELETE CASCADE;
ALTER TABLE access_requests DROP CONSTRAINT access_requests_project_id_fkey,
    ADD CONSTRAINT access_requests_project_id_fkey FOREIGN KEY (project_id) REFERENCES project_roots (id) ON DELETE CASCADE;
ALTER TABLE protected_branches DROP CONSTRAINT protected_branches_project_id_fkey,
    ADD CONSTRAINT protected_branches_project_id_fkey FOREIGN KEY (project_id) REFERENCES project_roots (id) ON DELETE CASCADE;
ALTER TABLE project_hooks DROP CONSTRAINT project_hooks_project_id_fkey,
    ADD CONSTRAINT project_hooks_project_id_fkey FOREIGN KEY (project_id) REFERENCES project_roots (id) ON DELETE CASCADE;
ALTER TABLE group_labels DROP CONSTRAINT group_labels_group_id_fkey,
    ADD CONSTRAINT group_labels_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespace_roots (id) ON DELETE CASCADE;
ALTER TABLE issues DROP CONSTRAINT issues_author_id_fkey,
    ADD CONSTRAINT issues_author_id_fkey FOREIGN KEY (author_id) REFERENCES user_roots (id) ON DELETE CASCADE;
ALTER TABLE issues DROP CONSTRAINT issues_assignee_id_fkey,
    ADD CONSTRAINT issues_assignee_id_fkey FOREIGN KEY (assignee_id) REFERENCES user_roots (id) ON DELETE CASCADE;
ALTER TABLE issues DROP CONSTRAINT issues_updated_by_id_fkey,
    ADD CONSTRAINT issues_updated_by_id_fkey FOREIGN KEY (updated_by_id) REFERENCES user_roots (id) ON DELETE SET NULL;
ALTER TABLE notes DROP CONSTRAINT notes_author_id_fkey,
    ADD CONSTRAINT notes_author_id_fkey FOREIGN KEY (author_id) REFERENCES user_roots (id) ON DELETE CASCADE;
ALTER TABLE notes DROP CONSTRAINT notes_updated_by_id_fkey,
    ADD CONSTRAINT notes_updated_by_id_fkey FOREIGN KEY (updated_by_id) REFERENCES user_roots (id) ON DELETE SET NULL;
ALTER TABLE events DROP CONSTRAINT events_author_id_fkey,
    ADD CONSTRAINT events_author_id_fkey FOREIGN KEY (author_id) REFERENCES user_roots (id) ON DELETE CASCADE;
ALTER TABLE awards DROP CONSTRAINT awards_user_id_fkey,
    ADD CONSTRAINT awards_user_id_fkey FOREIGN KEY (user_id) REFERENCES user_roots (id) ON DELETE CASCADE;
ALTER TABLE label_subscriptions DROP CONSTRAINT label_subscriptions_user_id_fkey,
    ADD CONSTRAINT label_subscriptions_user_id_fkey FOREIGN KEY (user_id) REFERENCES user_roots (id) ON DELETE CASCADE;
ALTER TABLE issue_subscriptions DROP CONSTRAINT issue_subscriptions_user_id_fkey,
    ADD CONSTRAINT issue_subscriptions_user_id_fkey FOREIGN KEY (user_id) REFERENCES user_roots (id) ON DELETE CASCADE;
ALTER TABLE issue_participants DROP CONSTRAINT issue_participants_user_id_fkey,
    ADD CONSTRAINT issue_participants_user_id_fkey FOREIGN KEY (user_id) REFERENCES user_roots (id) ON DELETE CASCADE;
ALTER TABLE pipelines DROP CONSTRAINT pipelines_user_id_fkey,
    ADD CONSTRAINT pipelines_user_id_fkey FOREIGN KEY (user_id) REFERENCES user_roots (id) ON DELETE SET NULL;
ALTER TABLE builds DROP CONSTRAINT builds_user_id_fkey,
    ADD CONSTRAINT builds_user_id_fkey FOREIGN KEY (user_id) REFERENCES user_roots (id) ON DELETE SET NULL;
