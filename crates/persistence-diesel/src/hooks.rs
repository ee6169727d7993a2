//! Hooks, the outbox of their messages, and deliveries.

pub(crate) mod delivery;
pub(crate) mod delivery_batch;
pub(crate) mod delivery_claim;
pub(crate) mod delivery_log;
pub(crate) mod outbox;
pub(crate) mod outbox_ci;
pub(crate) mod outbox_commit_note;
pub(crate) mod outbox_merge_request;
pub(crate) mod outbox_project;
pub(crate) mod outbox_snippet_note;
pub(crate) mod outbox_system;
pub(crate) mod project_hook;
pub(crate) mod service;
pub(crate) mod system_hook;
