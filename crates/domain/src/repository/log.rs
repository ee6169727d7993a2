//! Which commits a log lists.

use crate::Timestamp;
use crate::commit::ObjectId;

/// Which commits a log lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogQuery {
    /// The commit whose history is listed.
    pub from: ObjectId,
    /// Only commits that changed the file or folder at this path, which is taken literally. A path that ends in a slash
    /// names a folder. An empty path is that of the whole tree.
    pub path: Option<String>,
    /// Only commits whose committer date is this or later. As in git, an older commit also hides the commits that are
    /// reachable only through it.
    pub since: Option<Timestamp>,
    /// Only commits whose committer date is this or earlier.
    pub until: Option<Timestamp>,
    /// The number of commits that are left out at the start.
    pub skip: u64,
    /// The maximum number of commits.
    pub limit: usize,
}

impl LogQuery {
    /// All commits that are reachable from a commit.
    pub fn all(from: ObjectId) -> Self {
        Self { from, path: None, since: None, until: None, skip: 0, limit: usize::MAX }
    }
}
