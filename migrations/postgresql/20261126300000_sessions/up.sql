-- Tokens of sign-ins end after some time without use; those that are there have two weeks from now.
UPDATE tokens SET expires_at = now() AT TIME ZONE 'UTC' + INTERVAL '14 days'
WHERE kind = 'private' AND name = 'session' AND expires_at IS NULL;
