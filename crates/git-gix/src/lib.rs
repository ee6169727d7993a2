//! hexforge's git ports on gix: repositories on disk, read and written in this process.
//!
//! [`GixStore`] reads objects from packs of the pack store, which it links into one folder per repository. The caller
//! passes the refs and the list of packs as a snapshot. Cache keys are object ids or versions of the repository, so
//! that no entry becomes stale.
//!
//! - `storage`: repositories in folders, their packs and maintenance;
//! - `content`: commits, tags, folders, files and archives;
//! - `history`: comparisons, contributors, and which objects refs reach;
//! - `protocol`: fetches, pushes and imports.

// The helpers in `tests/support` name this crate in the same way in unit tests and in integration tests.
#[cfg(test)]
extern crate self as hexforge_git_gix;

mod background;
mod block;
mod content;
mod error;
mod history;
mod merge;
mod protocol;
mod storage;
#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;
mod text;
mod writes;

pub use protocol::import::{HttpImports, ImportLimits};
pub use protocol::limits::PushLimits;
pub use protocol::receive::fsck::{AcceptedFaults, Fault};
pub use storage::layout::{self, Layout};
pub use storage::store::GixStore;
pub use storage::{refs, rewind};
