//! The port to the stored repository tasks.

use super::task::{ImportState, RepositoryTask, TaskKind};
use crate::Timestamp;
use crate::id::{ProjectId, RepositoryTaskId};
use crate::ports::store_error::StoreError;

/// The queue of repository tasks.
pub trait RepositoryTasks {
    /// Adds a task that is due at once. The source project of a copy may be deleted already.
    fn insert(
        &mut self,
        project: ProjectId,
        kind: &TaskKind,
        at: Timestamp,
    ) -> Result<RepositoryTaskId, StoreError>;

    /// Claims the task that has been due for the longest time, and among equals the oldest.
    /// Increments its number of tries. No other caller gets the task before `until`.
    ///
    /// Tasks of one project run one at a time and in order: a task waits until all older ones are
    /// done or given up. At most [`MAX_CONCURRENT_IMPORTS`](super::task::MAX_CONCURRENT_IMPORTS) imports of one
    /// user, and at most [`MAX_CONCURRENT_MERGES`](super::task::MAX_CONCURRENT_MERGES) automatic merges of all projects,
    /// run at the same time. A task that was claimed [`MAX_ATTEMPTS`](super::task::MAX_ATTEMPTS) times is
    /// given up instead. The transaction of this call must do nothing else.
    fn claim(
        &mut self,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<RepositoryTask>, StoreError>;

    /// Like [`claim`](Self::claim), but only for tasks without network access: all kinds except
    /// imports.
    fn claim_local(
        &mut self,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<RepositoryTask>, StoreError>;

    /// Extends the claim of a running task: no other caller gets it before `until`. Does nothing to a task that is done,
    /// failed or given up.
    fn extend(&mut self, id: RepositoryTaskId, until: Timestamp) -> Result<(), StoreError>;

    /// Deletes a finished task.
    fn finish(&mut self, id: RepositoryTaskId) -> Result<(), StoreError>;

    /// Stores the reason of a failure. With `again`, the task is retried at that time. Without it, the
    /// task is given up: its row is kept because of the reason, but the URL is removed because it may
    /// contain credentials. NUL characters are removed from the reason.
    fn fail(
        &mut self,
        id: RepositoryTaskId,
        reason: &str,
        again: Option<Timestamp>,
    ) -> Result<(), StoreError>;

    /// Returns the states of unfinished imports of these projects, in any order. If a project has
    /// several, the newest counts.
    fn imports(
        &mut self,
        projects: &[ProjectId],
    ) -> Result<Vec<(ProjectId, ImportState)>, StoreError>;
}
