//! hexforge's git ports on gix: repositories on disk, read and written in this process.
//!
//! [`GixStore`] reads objects from packs of the pack store, which it links into one folder per repository. Refs and the
//! list of packs are handed in as a snapshot. Cached data is named by its content or by the version of the repository.
//!
//! - `storage`: repositories in folders, their packs and their upkeep;
//! - `content`: commits, tags, folders, files and archives;
//! - `history`: comparisons, contributors, and which objects refs reach;
//! - `protocol`: fetches, pushes and imports.

// Tests of the whole crate and those inside of it use the same helpers.
#[cfg(test)]
extern crate self as hexforge_git_gix;

mod background;
mod block;
mod content;
mod error;
mod history;
mod protocol;
mod storage;
#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;
mod text;

pub use protocol::import::{HttpImports, ImportLimits};
pub use protocol::limits::PushLimits;
pub use protocol::receive::fsck::{AcceptedFaults, Fault};
pub use storage::layout::{self, Layout};
pub use storage::store::GixStore;
pub use storage::{refs, rewind};
