//! The queued effects of a push on the merge requests of the pushed branch.

use super::RequestBranch;
use crate::commit::ObjectId;
use crate::id::UserId;

/// A change of a branch whose effects on open merge requests are still to be applied. The task is queued in the
/// transaction of the push, in the project of the branch, so it survives restarts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchPush {
    /// The branch.
    pub branch: RequestBranch,
    /// The previous tip; `None` when the push created the branch.
    pub old: Option<ObjectId>,
    /// The new tip; `None` when the push removed the branch.
    pub new: Option<ObjectId>,
    /// The user who pushed.
    pub user: UserId,
    /// The version of the repository after the push, see [`SeenVersions`](super::SeenVersions).
    pub version: i64,
}
