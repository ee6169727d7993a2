-- What was sealed stays so: SQL has no key.
DROP TABLE runners_tokens;
CREATE INDEX projects_by_runners_token ON projects (runners_token);
DROP TABLE key_proofs;
DROP TABLE sealing;
