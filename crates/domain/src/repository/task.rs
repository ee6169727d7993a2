//! Work on a repository that does not fit into one request.

use crate::Timestamp;
use crate::id::{ProjectId, RepositoryTaskId, UserId};
use crate::text::Secret;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskKind {
    /// Copy refs and packs of another project. Only tasks that an earlier release queued have this kind.
    Copy {
        /// From where.
        source: ProjectId,
    },
    /// Fetch everything from elsewhere.
    Import {
        /// From where, with what it takes to get in.
        url: Secret,
        /// Who asked for it.
        user: UserId,
    },
    /// Remove the branches that are in the default branch.
    RemoveMerged {
        /// In whose name.
        user: UserId,
    },
}

/// How often a task is tried before it is given up.
pub const TRIES: u32 = 5;

/// How many imports of one user are under way at the same time.
pub const IMPORTS_AT_ONCE: i64 = 2;

/// Why a task is given up during which its process ended each time, or that nobody said the end of.
pub const NEVER_ENDED: &str = "it was begun several times and never came to an end";

/// A task that is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryTask {
    /// Assigned by the store, growing with time.
    pub id: RepositoryTaskId,
    /// To which repository.
    pub project: ProjectId,
    /// What.
    pub kind: TaskKind,
    /// How often it was tried, this time included.
    pub tries: u32,
}

/// How far an import is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportState {
    /// It waits, or is under way.
    Started,
    /// It was given up, for this reason.
    Failed(String),
}

/// When a task is tried again.
pub fn retry_at(tries: u32, now: Timestamp) -> Option<Timestamp> {
    (tries < TRIES).then(|| now + chrono::TimeDelta::seconds(10 << tries.min(10)))
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
