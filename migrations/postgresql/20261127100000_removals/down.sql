DELETE FROM project_roots WHERE removed;
DELETE FROM namespace_roots WHERE removed;
DELETE FROM user_roots WHERE removed;
DROP TRIGGER project_roots_insert ON projects;
DROP TRIGGER project_roots_delete ON projects;
DROP TRIGGER namespace_roots_insert ON namespaces;
DROP TRIGGER namespace_roots_delete ON namespaces;
DROP TRIGGER user_roots_insert ON users;
DROP TRIGGER user_roots_delete ON users;
DROP FUNCTION add_root();
DROP FUNCTION mark_root();
ALTER TABLE issues DROP CONSTRAINT issues_project_id_fkey,
    ADD CONSTRAINT issues_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects (id) ON DELETE CASCADE;
ALTER TABLE notes DROP CONSTRAINT notes_project_id_fkey,
    ADD CONSTRAINT notes_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects (id) ON DELETE CASCADE;
ALTER TABLE events DROP CONSTRAINT events_project_id_fkey,
    ADD CONSTRAINT events_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects (id) ON DELETE CASCADE;
ALTER TABLE labels DROP CONSTRAINT labels_project_id_fkey,
    ADD CONSTRAINT labels_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects (id) ON DELETE CASCADE;
ALTER TABLE milestones DROP CONSTRAINT milestones_project_id_fkey,
    ADD CONSTRAINT milestones_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects (id) ON DELETE CASCADE;
ALTER TABLE boards DROP CONSTRAINT boards_project_id_fkey,
    ADD CONSTRAINT boards_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects (id) ON DELETE CASCADE;
ALTER TABLE pipelines DROP CONSTRAINT pipelines_project_id_fkey,
    ADD CONSTRAINT pipelines_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects (id) ON DELETE CASCADE;
ALTER TABLE builds DROP CONSTRAINT builds_project_id_fkey,
    ADD CONSTRAINT builds_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects (id) ON DELETE CASCADE;
ALTER TABLE ref_pipelines DROP CONSTRAINT ref_pipelines_project_id_fkey,
    ADD CONSTRAINT ref_pipelines_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects (id) ON DELETE CASCADE;
ALTER TABLE triggers DROP CONSTRAINT triggers_project_id_fkey,
    ADD CONSTRAINT triggers_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects (id) ON DELETE CASCADE;
ALTER TABLE releases DROP CONSTRAINT releases_project_id_fkey,
    ADD CONSTRAINT releases_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects (id) ON DELETE CASCADE;
ALTER TABLE stars DROP CONSTRAINT stars_project_id_fkey,
    ADD CONSTRAINT stars_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects (id) ON DELETE CASCADE;
ALTER TABLE access_requests DROP CONSTRAINT access_requests_project_id_fkey,
    ADD CONSTRAINT access_requests_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects (id) ON DELETE CASCADE;
ALTER TABLE protected_branches DROP CONSTRAINT protected_branches_project_id_fkey,
    ADD CONSTRAINT protected_branches_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects (id) ON DELETE CASCADE;
ALTER TABLE project_hooks DROP CONSTRAINT project_hooks_project_id_fkey,
    ADD CONSTRAINT project_hooks_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects (id) ON DELETE CASCADE;
ALTER TABLE group_labels DROP CONSTRAINT group_labels_group_id_fkey,
    ADD CONSTRAINT group_labels_group_id_fkey FOREIGN KEY (group_id) REFERENCES namespaces (id) ON DELETE CASCADE;
ALTER TABLE issues DROP CONSTRAINT issues_author_id_fkey,
    ADD CONSTRAINT issues_author_id_fkey FOREIGN KEY (author_id) REFERENCES users (id) ON DELETE CASCADE;
ALTER TABLE issues DROP CONSTRAINT issues_assignee_id_fkey,
    ADD CONSTRAINT issues_assignee_id_fkey FOREIGN KEY (assignee_id) REFERENCES users (id) ON DELETE CASCADE;
ALTER TABLE issues DROP CONSTRAINT issues_updated_by_id_fkey,
    ADD CONSTRAINT issues_updated_by_id_fkey FOREIGN KEY (updated_by_id) REFERENCES users (id) ON DELETE SET NULL;
ALTER TABLE notes DROP CONSTRAINT notes_author_id_fkey,
    ADD CONSTRAINT notes_author_id_fkey FOREIGN KEY (author_id) REFERENCES users (id) ON DELETE CASCADE;
ALTER TABLE notes DROP CONSTRAINT notes_updated_by_id_fkey,
    ADD CONSTRAINT notes_updated_by_id_fkey FOREIGN KEY (updated_by_id) REFERENCES users (id) ON DELETE SET NULL;
ALTER TABLE events DROP CONSTRAINT events_author_id_fkey,
    ADD CONSTRAINT events_author_id_fkey FOREIGN KEY (author_id) REFERENCES users (id) ON DELETE CASCADE;
ALTER TABLE awards DROP CONSTRAINT awards_user_id_fkey,
    ADD CONSTRAINT awards_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE;
ALTER TABLE label_subscriptions DROP CONSTRAINT label_subscriptions_user_id_fkey,
    ADD CONSTRAINT label_subscriptions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE;
ALTER TABLE issue_subscriptions DROP CONSTRAINT issue_subscriptions_user_id_fkey,
    ADD CONSTRAINT issue_subscriptions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE;
ALTER TABLE issue_participants DROP CONSTRAINT issue_participants_user_id_fkey,
    ADD CONSTRAINT issue_participants_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE;
ALTER TABLE pipelines DROP CONSTRAINT pipelines_user_id_fkey,
    ADD CONSTRAINT pipelines_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE SET NULL;
ALTER TABLE builds DROP CONSTRAINT builds_user_id_fkey,
    ADD CONSTRAINT builds_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE SET NULL;
DROP TABLE project_roots;
DROP TABLE namespace_roots;
DROP TABLE user_roots;
