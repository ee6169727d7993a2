//! Backups: everything of one moment in one file, while others go on serving; and back.
//!
//! The database decides which moment it is: it is copied first, and sees one state. Repositories are copied after that,
//! so they have at least what the database speaks of; what was changed in them since then is known by its notes
//! (see [`hexforge_git_gix::hold`]) and taken back when the backup is restored. Other files never change once the
//! database speaks of them, and are not removed while a backup is made.

mod file;
mod make;
mod manifest;
mod progress;
mod restore;
mod verify;

pub use make::make;
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
