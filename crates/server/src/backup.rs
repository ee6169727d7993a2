//! Backups: everything of one moment, while others go on serving; and back. A backup is one file, or one of several
//! moments in a folder or an object store, which share what did not change.
//!
//! The database decides which moment it is: it is copied first, and sees one state, refs included. Objects are stored
//! before the refs that lead to them, so the repositories, which are copied later, have each object. Other files never
//! change once the database speaks of them. Nothing is removed while a backup is made, see
//! [`Hold`](crate::system::Hold).

mod copy;
mod file;
mod make;
mod manifest;
mod moments;
mod place;
mod progress;
mod restore;
mod shelf;
mod verify;

pub use make::make;
pub use moments::{keep_newest, moments};
pub use restore::restore;
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
