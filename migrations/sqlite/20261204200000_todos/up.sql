-- Issues, merge requests and commits that wait for a user.
CREATE TABLE todos (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES user_roots (id) ON DELETE CASCADE,
    project_id BIGINT NOT NULL REFERENCES project_roots (id) ON DELETE CASCADE,
    issue_id BIGINT REFERENCES issues (id) ON DELETE CASCADE,
    merge_request_id BIGINT REFERENCES merge_requests (id) ON DELETE CASCADE,
    commit_id TEXT,
    author_id BIGINT NOT NULL REFERENCES user_roots (id) ON DELETE CASCADE,
    action TEXT NOT NULL CHECK (action IN ('assigned', 'mentioned', 'build_failed', 'marked')),
    -- The note that caused it.
    note_id BIGINT REFERENCES notes (id) ON DELETE CASCADE,
    state TEXT NOT NULL CHECK (state IN ('pending', 'done')),
    created_at TIMESTAMP NOT NULL,
    CHECK ((issue_id IS NOT NULL) + (merge_request_id IS NOT NULL) + (commit_id IS NOT NULL) = 1)
);
-- A user has one pending todo for a target.
CREATE UNIQUE INDEX todos_pending_for_issue ON todos (issue_id, user_id)
    WHERE state = 'pending' AND issue_id IS NOT NULL;
CREATE UNIQUE INDEX todos_pending_for_merge_request ON todos (merge_request_id, user_id)
    WHERE state = 'pending' AND merge_request_id IS NOT NULL;
CREATE UNIQUE INDEX todos_pending_for_commit ON todos (project_id, commit_id, user_id)
    WHERE state = 'pending' AND commit_id IS NOT NULL;
-- The lists of a user read these in order: all, those of one project, and those that one author caused.
CREATE INDEX todos_of_user ON todos (user_id, state, id);
CREATE INDEX todos_of_project ON todos (project_id, user_id, state, id);
CREATE INDEX todos_of_author ON todos (author_id, user_id, state, id);
-- Rows that go with an issue, a merge request or a note are found by these.
CREATE INDEX todos_of_issue ON todos (issue_id) WHERE issue_id IS NOT NULL;
CREATE INDEX todos_of_merge_request ON todos (merge_request_id) WHERE merge_request_id IS NOT NULL;
CREATE INDEX todos_of_note ON todos (note_id) WHERE note_id IS NOT NULL;
