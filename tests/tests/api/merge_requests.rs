//! Merge requests: merge_requests.md.

mod requests_automatic;
mod requests_automatic_cancel;
mod requests_closing;
mod requests_create;
mod requests_create_effects;
mod requests_dialects;
mod requests_events;
pub mod requests_fixtures;
pub mod requests_fork_support;
mod requests_forks;
mod requests_forks_lost;
mod requests_found;
mod requests_hooks;
mod requests_mentions;
mod requests_merge;
mod requests_merge_effects;
mod requests_merge_rights;
mod requests_notes;
mod requests_notes_commands;
mod requests_pushes;
mod requests_read;
mod requests_read_rights;
mod requests_refs;
pub mod requests_support;
mod requests_update;
mod requests_update_effects;
mod requests_versions;
