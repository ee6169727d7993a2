//! The port that writes commits: file changes, merges and cherry-picks.

use crate::commit::ObjectId;
use crate::ports::git_error::GitError;
use crate::repository::{
    CommitOutcome, CommitText, FileChange, MergeOutcome, PathEntry, PickOutcome,
};

/// Writes commits. Each call stores the commit and its new objects in one new pack and syncs the pack to disk. Callers
/// add the pack and change refs in a transaction; until then no reader sees the commit.
///
/// All calls that take a [`CommitText`] fail with [`GitError::Invalid`] when a name or an e-mail address contains a line
/// break, NUL, `<` or `>`, which would forge headers.
pub trait GitWrites {
    /// Returns what a commit has at a path. Path components are matched literally.
    /// # Errors
    /// [`GitError::Missing`] when the commit does not exist.
    fn path_entry(&self, commit: ObjectId, path: &str) -> Result<PathEntry, GitError>;

    /// Applies changes to the tree of `parent`, or to an empty tree, and writes a commit with that parent. Only the
    /// folders along the changed paths are read. A commit without changes has the tree of its parent.
    /// # Errors
    /// [`GitError::Missing`] when the parent does not exist.
    fn write_commit(
        &self,
        parent: Option<ObjectId>,
        changes: &[FileChange],
        text: &CommitText,
    ) -> Result<CommitOutcome, GitError>;

    /// Returns whether two commits can be merged without conflict. Writes nothing.
    /// # Errors
    /// [`GitError::Missing`] when a commit does not exist; [`GitError::TooLarge`] when too many files changed, or when
    /// the merge takes too long.
    fn can_merge(&self, ours: ObjectId, theirs: ObjectId) -> Result<bool, GitError>;

    /// Merges two commits as `git merge` does with default options, and writes a commit with the parents `ours` and
    /// `theirs`, also where a fast-forward would be possible.
    /// # Errors
    /// Those of [`can_merge`](Self::can_merge).
    fn merge(
        &self,
        ours: ObjectId,
        theirs: ObjectId,
        text: &CommitText,
    ) -> Result<MergeOutcome, GitError>;

    /// Applies the change of `picked` against its first parent to `onto`, as `git cherry-pick` does, and writes a commit
    /// with the parent `onto`.
    /// # Errors
    /// Those of [`can_merge`](Self::can_merge).
    fn cherry_pick(
        &self,
        picked: ObjectId,
        onto: ObjectId,
        text: &CommitText,
    ) -> Result<PickOutcome, GitError>;
}
