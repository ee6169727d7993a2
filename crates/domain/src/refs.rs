//! Refs of repositories. Refs are rows of the database, so that a change of refs and all its
//! consequences are one transaction.

mod change;
pub mod port;
pub mod ref_change;
pub mod reserved;
mod snapshot;

pub use change::{Atomicity, ChangedRefs, Peeled, change};
pub use snapshot::Snapshot;

use crate::commit::ObjectId;

/// A ref of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ref {
    /// The full name, which begins with `refs/`.
    pub name: String,
    /// The object that the ref points to.
    pub target: ObjectId,
    /// The object at the end of a chain of tag objects; `None` when the target is not a tag object.
    pub peeled: Option<ObjectId>,
}

/// HEAD of a repository, and the version numbers that show whether cached refs and packs are
/// current.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryState {
    /// The full name of the ref that HEAD points to. The ref may not exist.
    pub head: String,
    /// A number that increases with each change of refs or HEAD.
    pub refs_version: i64,
    /// A number that increases with each change of the list of packs.
    pub packs_version: i64,
}

impl RepositoryState {
    /// The ref that HEAD of a new repository points to.
    pub const FIRST_HEAD: &'static str = "refs/heads/master";

    /// The version number of refs or packs that an earlier release stored in files and that are not
    /// migrated to the database yet.
    pub const IN_FILES: i64 = -1;

    /// A number that increases with each change of refs, HEAD or the list of packs: 0 for a
    /// repository without content, and [`IN_FILES`](Self::IN_FILES) while refs or packs are still
    /// in files.
    pub fn version(&self) -> i64 {
        if self.is_in_files() { Self::IN_FILES } else { self.refs_version + self.packs_version }
    }

    /// Returns whether refs or packs are still in files.
    pub fn is_in_files(&self) -> bool {
        [self.refs_version, self.packs_version].contains(&Self::IN_FILES)
    }
}

impl Default for RepositoryState {
    fn default() -> Self {
        Self { head: Self::FIRST_HEAD.to_owned(), refs_version: 0, packs_version: 0 }
    }
}
