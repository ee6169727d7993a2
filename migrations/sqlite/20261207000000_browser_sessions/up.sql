-- Sign-ins on the web pages. There are at most 100 per user, so they are deleted together with the user.
CREATE TABLE browser_sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hash BLOB NOT NULL UNIQUE,
    created_at TIMESTAMP NOT NULL,
    last_used_at TIMESTAMP NOT NULL,
    address TEXT,
    browser TEXT NOT NULL,
    remembered BOOLEAN NOT NULL
);
CREATE INDEX browser_sessions_of_user ON browser_sessions (user_id, last_used_at, id);
CREATE INDEX browser_sessions_by_use ON browser_sessions (remembered, last_used_at, id);
