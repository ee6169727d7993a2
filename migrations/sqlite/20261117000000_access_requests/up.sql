-- Who asks to become a member, of a group or of a project.
CREATE TABLE access_requests (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    group_id BIGINT REFERENCES namespaces (id) ON DELETE CASCADE,
    project_id BIGINT REFERENCES projects (id) ON DELETE CASCADE,
    requested_at TIMESTAMP NOT NULL,
    CHECK ((group_id IS NULL) <> (project_id IS NULL)),
    UNIQUE (group_id, user_id),
    UNIQUE (project_id, user_id)
);
CREATE INDEX access_requests_of_user ON access_requests (user_id);

-- Memberships that end, the first to end first.
CREATE INDEX group_members_ending ON group_members (expires_at, group_id, user_id)
WHERE expires_at IS NOT NULL;
CREATE INDEX project_members_ending ON project_members (expires_at, project_id, user_id)
WHERE expires_at IS NOT NULL;
