//! hexforge's git ports on gix: repositories on disk, read and written in this process.
//!
//! [`GixStore`] keeps one bare repository for each project in the folder that [`layout`] names. Whatever
//! another process does to a repository is seen by the next call: what is cached is either named by its
//! content, or checked against the disk each time.

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
pub mod hold;
mod import;
mod intake;
mod journal;
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
mod refs;
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
