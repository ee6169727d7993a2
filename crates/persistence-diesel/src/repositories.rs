//! Refs, packs, pushes and background tasks of repositories.

pub(crate) mod pack;
pub(crate) mod push;
pub(crate) mod refs;
pub(crate) mod repository_task;
