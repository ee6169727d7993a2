-- What hooks are sent. Several deliveries may say the same.
CREATE TABLE hook_payloads (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    body TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL
);

-- The queue of each hook that was ever to be sent something, and how it fares. Whoever sends claims whole lanes.
CREATE TABLE hook_lanes (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_hook_id BIGINT REFERENCES project_hooks (id) ON DELETE CASCADE,
    system_hook_id BIGINT REFERENCES system_hooks (id) ON DELETE CASCADE,
    -- When it may be claimed next: because something is due, or because a claim is over. NULL when nothing waits.
    due_at TIMESTAMP,
    claimed BOOLEAN NOT NULL DEFAULT FALSE,
    -- How often it was claimed, by which claims are told apart.
    claims BIGINT NOT NULL DEFAULT 0,
    -- How often in a row it failed.
    failures INTEGER NOT NULL DEFAULT 0,
    failing_since TIMESTAMP,
    rest_until TIMESTAMP,
    UNIQUE (project_hook_id),
    UNIQUE (system_hook_id),
    CHECK ((project_hook_id IS NULL) <> (system_hook_id IS NULL))
);
CREATE INDEX hook_lanes_due ON hook_lanes (due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX hook_lanes_failing ON hook_lanes (failures, id) WHERE failures > 0;

CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    lane_id BIGINT NOT NULL REFERENCES hook_lanes (id) ON DELETE CASCADE,
    payload_id BIGINT NOT NULL REFERENCES hook_payloads (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    event TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed', 'given_up')),
    tries INTEGER NOT NULL,
    -- When it may be sent; NULL once it waits for nothing.
    due_at TIMESTAMP,
    -- From when on its patience counts.
    since TIMESTAMP NOT NULL,
    created_at TIMESTAMP NOT NULL,
    -- The last time it was tried.
    tried_at TIMESTAMP,
    url TEXT,
    millis INTEGER,
    status INTEGER,
    answer TEXT,
    error TEXT,
    CHECK ((state = 'pending') = (due_at IS NOT NULL))
);
CREATE INDEX deliveries_of_lane ON deliveries (lane_id, id);
-- What is sent next is read from the first in order; when a lane is due, from the second.
CREATE INDEX deliveries_waiting ON deliveries (lane_id, id) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_due ON deliveries (lane_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_oldest ON deliveries (created_at) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_of_payload ON deliveries (payload_id);
