-- Ids are never reused (AUTOINCREMENT). Timestamps are UTC texts.

CREATE TABLE users (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    username TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    email TEXT NOT NULL UNIQUE,
    password_hash TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('active', 'blocked', 'ldap_blocked')),
    admin BOOLEAN NOT NULL,
    external BOOLEAN NOT NULL,
    can_create_group BOOLEAN NOT NULL,
    projects_limit INTEGER NOT NULL CHECK (projects_limit >= 0),
    bio TEXT,
    location TEXT,
    organization TEXT,
    skype TEXT,
    linkedin TEXT,
    twitter TEXT,
    website_url TEXT,
    theme_id INTEGER NOT NULL,
    color_scheme_id INTEGER NOT NULL,
    avatar TEXT,
    two_factor_enabled BOOLEAN NOT NULL,
    confirmed_at TIMESTAMP,
    last_sign_in_at TIMESTAMP,
    current_sign_in_at TIMESTAMP,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    -- Name, primary address and username in lower case: what a search looks through.
    search_text TEXT NOT NULL
);

-- Pages and totals of the filtered lists read these instead of the table.
CREATE INDEX users_all ON users (id);
CREATE INDEX users_active ON users (id) WHERE state = 'active';
CREATE INDEX users_blocked ON users (id) WHERE state <> 'active';
CREATE INDEX users_external ON users (id) WHERE external;

-- Any three letters in a row find the users that contain them.
CREATE VIRTUAL TABLE users_search USING fts5 (
    search_text, content = 'users', content_rowid = 'id', tokenize = 'trigram case_sensitive 1'
);
CREATE TRIGGER users_search_insert AFTER INSERT ON users BEGIN
    INSERT INTO users_search (rowid, search_text) VALUES (new.id, new.search_text);
END;
CREATE TRIGGER users_search_delete AFTER DELETE ON users BEGIN
    INSERT INTO users_search (users_search, rowid, search_text)
    VALUES ('delete', old.id, old.search_text);
END;
CREATE TRIGGER users_search_update AFTER UPDATE OF search_text ON users
WHEN old.search_text <> new.search_text BEGIN
    INSERT INTO users_search (users_search, rowid, search_text)
    VALUES ('delete', old.id, old.search_text);
    INSERT INTO users_search (rowid, search_text) VALUES (new.id, new.search_text);
END;

-- One set of paths for users and groups.
CREATE TABLE namespaces (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    path TEXT NOT NULL,
    path_folded TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    owner_id BIGINT UNIQUE REFERENCES users (id) ON DELETE CASCADE
);

CREATE TABLE identities (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    provider TEXT NOT NULL,
    extern_uid TEXT,
    UNIQUE (user_id, provider),
    UNIQUE (provider, extern_uid)
);

-- Every address of every user, primary ones included, so that one belongs to one user only.
CREATE TABLE emails (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    email TEXT NOT NULL UNIQUE,
    is_primary BOOLEAN NOT NULL
);
CREATE INDEX emails_secondary ON emails (user_id, id) WHERE NOT is_primary;
CREATE UNIQUE INDEX emails_primary ON emails (user_id) WHERE is_primary;

CREATE TABLE keys (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL UNIQUE,
    created_at TIMESTAMP NOT NULL
);
CREATE INDEX keys_of_user ON keys (user_id, id);

CREATE TABLE tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('private', 'personal')),
    name TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE,
    created_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP,
    revoked_at TIMESTAMP
);
CREATE INDEX tokens_of_user ON tokens (user_id, id);

CREATE TABLE sign_in_failures (
    subject TEXT PRIMARY KEY NOT NULL,
    failures INTEGER NOT NULL,
    since TIMESTAMP NOT NULL,
    refused_until TIMESTAMP
);
CREATE INDEX sign_in_failures_since ON sign_in_failures (since);

-- Activity, as the feeds show it.
CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    project_id BIGINT NOT NULL,
    author_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    action TEXT NOT NULL,
    target_type TEXT,
    target_id BIGINT,
    target_title TEXT,
    data TEXT,
    created_at TIMESTAMP NOT NULL
);
CREATE INDEX events_of_author ON events (author_id, id);

-- What happened and waits to be told to hooks.
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL
);
