//! Backups: everything of one moment, while others go on serving; and back. A backup is one file, or one of several
//! snapshots in a folder or an object store, which share what did not change.
//!
//! The database decides which moment it is: it is copied first, and sees one state, refs included. Objects are stored
//! before the refs that lead to them, so the repositories, which are copied later, have each object. Other files never
//! change once the database speaks of them. Nothing is removed from the data folder while
//! a backup is made, see [`Hold`](crate::system::Hold).

mod copy;
mod file;
mod make;
mod manifest;
mod progress;
mod restore;
mod snapshot_store;
mod snapshots;
mod staging;
mod verify;

pub use make::{Made, make};
pub use restore::restore;
pub use snapshots::list;
pub use verify::verify;

/// What is in a backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// How many repositories.
    pub repositories: u64,
    /// How many files, those of repositories and of the database included.
    pub files: u64,
    /// How many bytes they have.
    pub bytes: u64,
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { repositories, files, bytes } = self;
        let megabytes = bytes.div_ceil(1024 * 1024);
        write!(f, "{repositories} repositories, {files} files, {megabytes} MiB")
    }
}
