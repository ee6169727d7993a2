UPDATE tokens SET expires_at = NULL WHERE kind = 'private' AND name = 'session';
