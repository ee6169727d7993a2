-- Secrets that all machines of an installation share, such as SSH host keys, sealed with the key of the installation.
CREATE TABLE installation_secrets (
    name TEXT PRIMARY KEY NOT NULL,
    sealed TEXT NOT NULL
);
