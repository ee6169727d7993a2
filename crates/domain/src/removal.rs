//! Deletion of the remaining rows of deleted projects, groups and users. The transaction that deletes
//! a project, group or user hides it from all callers. Rows of which there may be many are deleted
//! afterwards, in steps.

pub mod port;

use crate::id::{ForkNetworkId, ProjectId};

/// The result of one deletion step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// No rows are left.
    Nothing,
    /// Rows were deleted, and there may be more.
    Rows,
    /// The last rows of this project were deleted, so its files may be discarded.
    Project(ProjectId),
    /// No project of this fork network is left, and all rows of its LFS objects were deleted, so their files may be
    /// removed. The step is repeated until [`LfsObjects::forget`](crate::lfs::port::LfsObjects::forget) is called.
    LfsNetwork(ForkNetworkId),
}
