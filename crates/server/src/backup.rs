//! Backups: writes the state of one moment while the server keeps running, and restores it. A backup is one file, or
//! one of several snapshots in a folder or an object store, which share unchanged files.
//!
//! The copy of the database decides the moment: it is made first and is consistent, refs included.
//! Objects are stored before the refs that lead to them, so the packs, which are copied later, contain
//! every object. Other files never change once a row names them. Nothing is removed from the data
//! folder during a backup, see [`BackupLock`](crate::system::BackupLock).

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

pub use make::{BackupResult, make};
pub use restore::restore;
pub use snapshots::list;
pub use verify::verify;

/// The size of a backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of repositories.
    pub repositories: u64,
    /// The number of files, including those of repositories and of the database.
    pub files: u64,
    /// The number of bytes.
    pub bytes: u64,
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { repositories, files, bytes } = self;
        let megabytes = bytes.div_ceil(1024 * 1024);
        write!(f, "{repositories} repositories, {files} files, {megabytes} MiB")
    }
}
