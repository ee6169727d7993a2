//! New commits: their file changes, texts and outcomes.

use crate::commit::{ObjectId, Signature};
use crate::pack::Pack;

/// What a commit has at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathEntry {
    /// Nothing. All components before the last are folders, or are missing as well.
    Missing,
    /// Nothing, because a component before the last is a file, a symbolic link or a submodule.
    BehindFile,
    /// A folder.
    Folder,
    /// A file or a symbolic link.
    File {
        /// The id of the blob.
        id: ObjectId,
        /// The mode.
        mode: FileMode,
    },
    /// A submodule at this commit of another repository.
    Submodule(ObjectId),
}

/// The mode of a blob in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileMode {
    /// A file, `100644`.
    Plain,
    /// An executable file, `100755`.
    Executable,
    /// A symbolic link, `120000`. The content is the target.
    Link,
}

/// The change of one file. Changes of one commit are applied in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// Writes a file or a symbolic link.
    Write {
        /// The path.
        path: String,
        /// The content, which is stored byte for byte.
        content: Vec<u8>,
        /// The new mode. `None` keeps the mode of the file that is there; a new file gets [`FileMode::Plain`].
        mode: Option<FileMode>,
    },
    /// Removes a file, a symbolic link or a submodule, and the folders that become empty.
    Remove {
        /// The path.
        path: String,
    },
    /// Moves a file or a symbolic link and keeps its mode.
    Move {
        /// The old path.
        from: String,
        /// The new path, where nothing may be.
        to: String,
        /// The new content; `None` keeps the content.
        content: Option<Vec<u8>>,
    },
}

/// Message and people of a new commit. All texts are stored byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitText {
    /// The full message.
    pub message: String,
    /// The author.
    pub author: Signature,
    /// The committer.
    pub committer: Signature,
}

/// A commit that was written, and the pack that contains its new objects. The pack is synced to disk, but belongs to
/// the repository only when a row names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenCommit {
    /// The commit.
    pub id: ObjectId,
    /// The pack with the commit and all objects that are new in it.
    pub pack: Pack,
}

/// The outcome of writing a commit with file changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitOutcome {
    /// The commit was written.
    Written(WrittenCommit),
    /// Nothing was written, because one of the changes cannot be applied.
    Impossible {
        /// The index of the change.
        change: usize,
        /// Why it cannot be applied.
        why: ChangeError,
    },
}

/// The maximum number of folders in the path of a file that is written.
pub const MAX_FOLDERS: usize = 1000;

/// Why a file change cannot be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// There is no such file.
    #[error("the file does not exist")]
    NotFound,
    /// There is something else at the path, or the path leads through a file.
    #[error("the path is taken")]
    Taken,
    /// The path has a component that is empty, `.`, `..`, or `.git` in any spelling, it contains a NUL byte, or it has
    /// more than [`MAX_FOLDERS`] folders.
    #[error("the path is not valid")]
    InvalidPath,
    /// Git itself interprets the file (`.gitmodules` or `.gitattributes`), and a push of it would be refused.
    #[error("the content is not valid for a file of this name")]
    InvalidContent,
}

/// The outcome of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeOutcome {
    /// The merge commit was written.
    Merged(WrittenCommit),
    /// The branches conflict. Nothing was written.
    Conflict,
}

/// The outcome of a cherry-pick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PickOutcome {
    /// The commit was written.
    Picked(WrittenCommit),
    /// The change conflicts with the branch. Nothing was written.
    Conflict,
    /// The branch has the change already. Nothing was written.
    Unchanged,
}
