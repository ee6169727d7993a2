-- Which notifications a user wants: for a project, for a group, or for everything.
CREATE TABLE notification_settings (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES user_roots (id) ON DELETE CASCADE,
    project_id BIGINT REFERENCES project_roots (id) ON DELETE CASCADE,
    group_id BIGINT REFERENCES namespace_roots (id) ON DELETE CASCADE,
    level INTEGER NOT NULL CHECK (level BETWEEN 0 AND 5),
    -- One bit per event, in the order of the API.
    events INTEGER NOT NULL,
    -- Where the settings are for everything: the chosen address.
    address TEXT,
    CHECK (project_id IS NULL OR group_id IS NULL)
);
CREATE UNIQUE INDEX notification_settings_for_all ON notification_settings (user_id)
    WHERE project_id IS NULL AND group_id IS NULL;
CREATE UNIQUE INDEX notification_settings_for_project ON notification_settings (project_id, user_id)
    WHERE project_id IS NOT NULL;
CREATE UNIQUE INDEX notification_settings_for_group ON notification_settings (group_id, user_id)
    WHERE group_id IS NOT NULL;
CREATE INDEX notification_settings_of_user ON notification_settings (user_id);
