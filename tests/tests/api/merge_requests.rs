//! Merge requests: merge_requests.md.

mod requests_create;
pub mod requests_fixtures;
mod requests_forks;
mod requests_hooks;
mod requests_mentions;
mod requests_merge;
mod requests_notes;
mod requests_pushes;
mod requests_read;
pub mod requests_support;
mod requests_update;
mod requests_versions;
