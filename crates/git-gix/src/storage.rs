//! Repositories in folders: packs, indexes and refs, opening and upkeep.

pub(crate) mod examine;
pub(crate) mod held;
pub mod layout;
pub(crate) mod maintenance;
pub(crate) mod open;
pub(crate) mod pack_file;
pub(crate) mod pack_index;
pub mod refs;
pub(crate) mod repository;
pub mod rewind;
pub(crate) mod scratch;
pub(crate) mod store;
pub(crate) mod takeover;
