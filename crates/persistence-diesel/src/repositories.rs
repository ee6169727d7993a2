//! Refs, packs, LFS objects, pushes and background tasks of repositories.

pub(crate) mod lfs_object;
pub(crate) mod pack;
pub(crate) mod push;
pub(crate) mod refs;
pub(crate) mod repository_task;
