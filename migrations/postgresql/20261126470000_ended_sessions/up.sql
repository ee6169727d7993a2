-- Sessions by their end: those that ended are removed.
CREATE INDEX tokens_by_end ON tokens (expires_at, id) WHERE kind = 'private' AND expires_at IS NOT NULL;
