//! Revisions, folders and files.
