//! hexforge's git ports on gix: repositories on disk, read and written in this process.
//!
//! [`GixStore`] reads objects from packs of the pack store, which it links into one folder per repository. Refs and the
//! list of packs are handed in as a snapshot. Cached data is named by its content or by the version of the repository.

// Tests of the whole crate and those inside of it use the same helpers.
#[cfg(test)]
extern crate self as hexforge_git_gix;

mod annotation;
mod archive;
mod background;
mod blob;
mod block;
mod commit;
mod compare;
mod contributors;
mod error;
mod examine;
mod held;
mod history;
mod import;
mod intake;
pub mod layout;
mod limits;
mod lineage;
mod maintenance;
mod objects;
mod open;
mod pack_file;
mod pack_index;
mod packet;
mod peel;
mod reachable;
mod receive;
pub mod refs;
mod repository;
mod revision;
pub mod rewind;
mod scratch;
mod store;
#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;
mod takeover;
mod text;
mod transport;
mod tree;
mod upload;
mod upload_archive;

pub use import::{HttpImports, ImportLimits};
pub use layout::Layout;
pub use limits::PushLimits;
pub use receive::fsck::{AcceptedFaults, Fault};
pub use store::GixStore;
