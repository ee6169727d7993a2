//! hexforge's git ports on gix: repositories on disk, read and written in this process.
//!
//! [`GixStore`] keeps the objects of one repository for each project in the folder that [`layout`] names. Refs are
//! handed in as a snapshot. Cached data is named by its content or by the version of the refs, or checked against the disk.

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
mod copy;
pub mod copying;
mod durable;
mod error;
mod examine;
mod history;
mod import;
mod intake;
pub mod layout;
mod limits;
mod lineage;
mod maintenance;
mod objects;
mod pack_index;
mod packet;
mod peel;
mod place;
mod reachable;
mod receive;
pub mod refs;
mod repository;
mod revision;
mod store;
#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;
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
