//! Versions of a merge request: the state of both branches at the time of a push.

use std::fmt;

use crate::Timestamp;
use crate::commit::ObjectId;
use crate::id::{MergeRequestId, MergeRequestVersionId};

/// A version as it is stored. Its commits are those of the head that the start lacks, and its changes are those between
/// the base and the head; both are read from the target repository, which keeps the three commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Assigned by the store, increasing with time.
    pub id: MergeRequestVersionId,
    /// The merge request.
    pub request: MergeRequestId,
    /// The three commits.
    pub commits: VersionCommits,
    /// The number of changed files; `None` without commits.
    pub size: Option<FileCount>,
    /// The creation time.
    pub created_at: Timestamp,
}

/// The three commits of a version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VersionCommits {
    /// The tip of the source branch; `None` when it did not exist.
    pub head: Option<ObjectId>,
    /// The tip of the target branch; `None` when it did not exist.
    pub start: Option<ObjectId>,
    /// The merge base of both; `None` when a branch did not exist, or when the histories are unrelated.
    pub base: Option<ObjectId>,
}

impl VersionCommits {
    /// The commits that exist.
    pub fn iter(&self) -> impl Iterator<Item = ObjectId> {
        [self.head, self.start, self.base].into_iter().flatten()
    }
}

/// The input for a new version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewVersion {
    /// See [`Version::request`].
    pub request: MergeRequestId,
    /// See [`Version::commits`].
    pub commits: VersionCommits,
    /// See [`Version::size`].
    pub size: Option<FileCount>,
    /// The creation time.
    pub at: Timestamp,
}

impl Version {
    /// Returns whether the version has commits and changes.
    pub fn has_changes(&self) -> bool {
        self.size.is_some_and(|size| size.files > 0)
    }

    /// The state as the API names it.
    pub fn state(&self) -> &'static str {
        if self.has_changes() { "collected" } else { "empty" }
    }
}

/// The number of changed files, as far as they are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileCount {
    /// The number of files, at most [`Self::MAX`].
    files: u32,
    /// Whether there are more files.
    more: bool,
}

impl FileCount {
    /// The number up to which files are counted.
    pub const MAX: u32 = 1000;

    /// The count for a number of files.
    pub fn of(files: usize) -> Self {
        let counted = u32::try_from(files).unwrap_or(u32::MAX).min(Self::MAX);
        Self { files: counted, more: files > Self::MAX as usize }
    }

    /// Parses the text of a stored count.
    pub fn parse(text: &str) -> Option<Self> {
        let (digits, more) = match text.strip_suffix('+') {
            Some(digits) => (digits, true),
            None => (text, false),
        };
        Some(Self { files: digits.parse().ok()?, more })
    }
}

/// The text in the API and in the database: `12`, or `1000+`.
impl fmt::Display for FileCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.files, if self.more { "+" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::DateTime;

    #[test]
    fn files_are_counted_up_to_a_limit() {
        for (files, text) in
            [(0, "0"), (1, "1"), (1000, "1000"), (1001, "1000+"), (20_000, "1000+")]
        {
            let count = FileCount::of(files);
            assert_eq!(count.to_string(), text);
            assert_eq!(FileCount::parse(text), Some(count));
        }
        assert_eq!(FileCount::parse("many"), None);
    }

    #[test]
    fn a_version_without_commits_or_changes_is_empty() {
        for (size, state) in [
            (None, "empty"),
            (Some(FileCount::of(0)), "empty"),
            (Some(FileCount::of(1)), "collected"),
            (Some(FileCount::of(5000)), "collected"),
        ] {
            let version = Version {
                id: MergeRequestVersionId(1),
                request: MergeRequestId(1),
                commits: VersionCommits::default(),
                size,
                created_at: DateTime::UNIX_EPOCH,
            };
            assert_eq!(version.state(), state, "{size:?}");
        }
    }
}
