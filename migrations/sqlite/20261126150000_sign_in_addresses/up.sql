-- Networks from which users signed in, as keyed digests: the brake on guessing lets these callers through.
CREATE TABLE sign_in_addresses (
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    network TEXT NOT NULL,
    seen_at TIMESTAMP NOT NULL,
    PRIMARY KEY (user_id, network)
);
