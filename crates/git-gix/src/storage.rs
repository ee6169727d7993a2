//! Repositories on disk: packs, pack indexes, refs, opening and maintenance.

pub(crate) mod examine;
pub mod layout;
pub(crate) mod maintenance;
pub(crate) mod open;
pub(crate) mod open_repositories;
pub(crate) mod pack_file;
pub(crate) mod pack_index;
pub(crate) mod pack_summary;
pub mod refs;
pub(crate) mod repository;
pub mod rewind;
pub(crate) mod scratch;
pub(crate) mod store;
pub(crate) mod takeover;
