//! Git trees (folders) and their entries.

use crate::commit::ObjectId;

/// The type of a tree entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A subfolder.
    Tree,
    /// A file or a symbolic link.
    Blob,
    /// A submodule: a commit of another repository.
    Commit,
}

/// An entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    /// The id of the object.
    pub id: ObjectId,
    /// The type of the object.
    pub kind: EntryKind,
    /// The git file mode, such as `0o100644`.
    pub mode: u32,
    /// The path from the root of the repository, as [`path`](super::path) keeps it.
    pub path: String,
}

impl TreeEntry {
    /// The file name: the last segment of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}
