//! Refs: the names by which a repository keeps objects. Refs are rows of the store, so that a change of refs and
//! everything that follows from the change are one transaction.

mod change;
pub mod port;
mod snapshot;

pub use change::{Made, Manner, Peeled, change};
pub use snapshot::Snapshot;

use crate::commit::ObjectId;

/// A ref of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ref {
    /// The whole name, which begins with `refs/`.
    pub name: String,
    /// The object that the ref holds.
    pub target: ObjectId,
    /// The object that an annotated tag leads to in the end; `None` when the target is no tag object.
    pub peeled: Option<ObjectId>,
}

/// HEAD of a repository, and the numbers by which cached refs and packs are known to be current.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryState {
    /// The whole name of the ref that HEAD stands for. The ref may be missing.
    pub head: String,
    /// A number that grows with each change of refs or HEAD.
    pub refs_version: i64,
    /// A number that grows with each change of the list of packs.
    pub packs_version: i64,
}

impl RepositoryState {
    /// The ref that HEAD of a new repository stands for.
    pub const FIRST_HEAD: &'static str = "refs/heads/master";

    /// The version of refs that are still in files, as an earlier release kept them.
    pub const IN_FILES: i64 = -1;
}

impl Default for RepositoryState {
    fn default() -> Self {
        Self { head: Self::FIRST_HEAD.to_owned(), refs_version: 0, packs_version: 0 }
    }
}
