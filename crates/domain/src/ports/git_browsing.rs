//! The port for parts of the history that pages show beside files and folders.

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::commit::ObjectId;
use crate::ports::git_error::GitError;
use crate::repository::{Blame, Comparison, Divergence, FilePaths, LastCommits};

/// Reads histories for pages.
pub trait GitBrowsing {
    /// Finds the last commits up to `commit` that changed the entries of a folder, as [`GitHistory::last_commit`] does
    /// for one path. One call takes some tens of milliseconds at most, so some may be missing; the next call goes on
    /// from there. Entries beyond the first 10,000 are ignored. Without such a folder there are no entries.
    ///
    /// [`GitHistory::last_commit`]: crate::ports::git::GitHistory::last_commit
    /// # Errors
    /// [`GitError::Missing`] when the commit does not exist.
    fn last_commits(&self, commit: ObjectId, folder: &str) -> Result<LastCommits, GitError>;

    /// Finds the commits that wrote some lines of a file, as `git blame` does. Lines are counted from 1; those beyond the
    /// end of the file are ignored, and those beyond the first [`BLAME_LINES`](crate::repository::BLAME_LINES) as well.
    /// Returns `None` when there is no file at the path.
    /// # Errors
    /// [`GitError::Missing`] when the commit does not exist; [`GitError::TooLarge`] when the file is too large, or when
    /// the history is too long to find all commits in time.
    fn blame(
        &self,
        commit: ObjectId,
        path: &str,
        lines: RangeInclusive<u32>,
    ) -> Result<Option<Arc<Blame>>, GitError>;

    /// Counts the commits that only one of two commits has. Returns `None` when that takes too long.
    /// # Errors
    /// [`GitError::Missing`] when a commit does not exist.
    fn divergence(&self, base: ObjectId, commit: ObjectId) -> Result<Option<Divergence>, GitError>;

    /// Lists the paths of the files of a commit, at most [`FILE_PATHS`](crate::repository::FILE_PATHS).
    /// # Errors
    /// [`GitError::Missing`] when the commit does not exist.
    fn file_paths(&self, commit: ObjectId) -> Result<FilePaths, GitError>;

    /// Compares the files of two commits themselves, and not those since their merge base. Without a base, all files are
    /// new. [`commits`](Comparison::commits) is empty. If the comparison is too large for one response, it is incomplete
    /// and has [`overflow`](Comparison::overflow) set.
    /// # Errors
    /// [`GitError::Missing`] when a commit does not exist.
    fn tree_changes(
        &self,
        base: Option<ObjectId>,
        commit: ObjectId,
    ) -> Result<Arc<Comparison>, GitError>;

    /// Returns for each of the tips, in their order, whether it is the commit or a descendant of it. Returns `None` when
    /// that takes too long. A tip that is not a commit contains nothing.
    /// # Errors
    /// [`GitError::Missing`] when the commit does not exist.
    fn tips_containing(
        &self,
        commit: ObjectId,
        tips: &[ObjectId],
    ) -> Result<Option<Vec<bool>>, GitError>;
}
