//! Folders.

use crate::commit::ObjectId;

/// What an entry of a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A folder.
    Tree,
    /// A file or a symbolic link.
    Blob,
    /// A commit of another repository.
    Commit,
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    /// The object behind it.
    pub id: ObjectId,
    /// What it is.
    pub kind: EntryKind,
    /// Its mode as git keeps it, such as `0o100644`.
    pub mode: u32,
    /// From the root of the repository.
    pub path: String,
}

impl TreeEntry {
    /// The last part of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}
