-- Messages of administrators to all users.
CREATE TABLE broadcast_messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    message TEXT NOT NULL,
    starts_at TIMESTAMP NOT NULL,
    ends_at TIMESTAMP NOT NULL,
    color TEXT NOT NULL,
    font TEXT NOT NULL
);
