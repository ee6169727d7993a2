//! Background tasks of a repository that take too long for one request.

use crate::Timestamp;
use crate::branch::BranchName;
use crate::commit::ObjectId;
use crate::id::{ProjectId, RepositoryTaskId, UserId};
use crate::merge_request::{BranchPush, RequestBranch};
use crate::text::Secret;

/// The kind of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskKind {
    /// Copy the refs and packs of another project. Only tasks that an earlier release queued have
    /// this kind.
    Copy {
        /// The project to copy from.
        source: ProjectId,
    },
    /// Fetch a repository from another server.
    Import {
        /// The URL, with credentials.
        url: Secret,
        /// The user who requested the import.
        user: UserId,
    },
    /// Delete the branches that are merged into the default branch.
    RemoveMerged {
        /// The user on whose behalf the branches are deleted.
        user: UserId,
    },
    /// Delete the source branch of a merge request that was merged, unless the branch moved since.
    RemoveSourceBranch {
        /// The branch.
        branch: RequestBranch,
        /// The merged commit.
        head: ObjectId,
        /// The user who merged.
        user: UserId,
    },
    /// Apply a push to the open merge requests of the pushed branch. The user may be deleted meanwhile.
    RefreshMergeRequests(BranchPush),
    /// Close the open merge requests that a fork has in this project, because the fork was deleted or
    /// its link was removed.
    CloseRequestsOfFork {
        /// The fork. It may be deleted.
        source: ProjectId,
        /// The user who deleted the fork or the link. The user may be deleted meanwhile.
        user: UserId,
    },
    /// Stop the environments of deleted branches that the push which deleted them left running, because there were too
    /// many for its transaction.
    StopEnvironments {
        /// The deleted branches. Those that exist again are skipped.
        branches: Vec<BranchName>,
        /// The user who deleted the branches.
        user: UserId,
    },
    /// Merge the open merge requests of this source project that wait for the pipeline of a commit.
    MergeAutomatically {
        /// The source branch.
        branch: RequestBranch,
        /// The commit.
        head: ObjectId,
    },
}

impl TaskKind {
    /// The user with whom the task is deleted.
    pub fn owner(&self) -> Option<UserId> {
        match self {
            TaskKind::Import { user, .. }
            | TaskKind::RemoveMerged { user }
            | TaskKind::RemoveSourceBranch { user, .. }
            | TaskKind::StopEnvironments { user, .. } => Some(*user),
            TaskKind::Copy { .. }
            | TaskKind::RefreshMergeRequests(_)
            | TaskKind::CloseRequestsOfFork { .. }
            | TaskKind::MergeAutomatically { .. } => None,
        }
    }
}

/// The maximum number of tries of a task.
pub const MAX_ATTEMPTS: u32 = 5;

/// The maximum number of concurrent imports of one user.
pub const MAX_CONCURRENT_IMPORTS: i64 = 2;

/// The maximum number of concurrent automatic merges. Each may take as long as a merge is allowed to take, for every
/// request that waits, and there are nine workers. Without the limit, as many projects could delay all other tasks.
pub const MAX_CONCURRENT_MERGES: i64 = 3;

/// The failure reason of a task that was claimed several times and never finished, for example
/// because the server process ended each time.
pub const NEVER_FINISHED: &str = "the task was started several times but never finished";

/// A claimed task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryTask {
    /// Assigned by the store, increasing with time.
    pub id: RepositoryTaskId,
    /// The project of the repository.
    pub project: ProjectId,
    /// The kind of the task.
    pub kind: TaskKind,
    /// The number of tries, including this one.
    pub tries: u32,
}

/// The state of an unfinished import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportState {
    /// Waiting or running.
    Started,
    /// The last attempt failed for this reason, and the next one waits.
    Retrying(String),
    /// Given up, with the reason.
    Failed(String),
}

/// Returns the time of the next try, with exponential backoff; `None` after the last try.
pub fn retry_at(tries: u32, now: Timestamp) -> Option<Timestamp> {
    (tries < MAX_ATTEMPTS).then(|| now + chrono::TimeDelta::seconds(10 << tries.min(10)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_tried_again_ever_later_and_then_given_up() {
        let now = chrono::DateTime::UNIX_EPOCH;
        for (tries, seconds) in [(1, Some(20)), (2, Some(40)), (4, Some(160)), (5, None)] {
            let at = retry_at(tries, now).map(|at| at.timestamp());
            assert_eq!(at, seconds, "{tries}");
        }
    }
}
