//! Refs, packs and pushes of repositories, and work on them.

pub(crate) mod pack;
pub(crate) mod push;
pub(crate) mod refs;
pub(crate) mod repository_task;
