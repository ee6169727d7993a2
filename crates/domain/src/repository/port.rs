//! What the store knows of repositories.

use super::task::{ImportState, RepositoryTask, TaskKind};
use crate::Timestamp;
use crate::id::{ProjectId, RepositoryTaskId};
use crate::ports::store::StoreError;

/// Work on repositories that waits to be done.
pub trait RepositoryTasks {
    /// Adds a task that may be done at once. What a task copies from may be gone.
    fn insert(
        &mut self,
        project: ProjectId,
        kind: &TaskKind,
        at: Timestamp,
    ) -> Result<RepositoryTaskId, StoreError>;

    /// The task that is due for the longest time, of several the oldest; counted as tried once more. Nobody
    /// else gets it before `until`. Tasks of one project are given out one after the other: none before all
    /// older ones are done or given up. Of one user no more than [`IMPORTS_AT_ONCE`](super::task::IMPORTS_AT_ONCE)
    /// imports are under way. What was given out [`TRIES`](super::task::TRIES) times is given up, not out. The
    /// transaction does nothing else.
    fn claim(
        &mut self,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<RepositoryTask>, StoreError>;

    /// The same among the tasks that need nobody elsewhere: all but imports.
    fn claim_local(
        &mut self,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<RepositoryTask>, StoreError>;

    /// The same for one task, if it is due. The transaction may be the one that added it.
    fn claim_one(
        &mut self,
        id: RepositoryTaskId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<RepositoryTask>, StoreError>;

    /// Removes a task that is done.
    fn finish(&mut self, id: RepositoryTaskId) -> Result<(), StoreError>;

    /// Keeps why a task failed. With a time it is tried again then; without it is given up: it stays for its
    /// reason, without what it took to get in. NUL is left out of the reason.
    fn fail(
        &mut self,
        id: RepositoryTaskId,
        reason: &str,
        again: Option<Timestamp>,
    ) -> Result<(), StoreError>;

    /// How far the imports of these projects are, for those that have one that is not done; of several the
    /// newest counts. In any order.
    fn imports(
        &mut self,
        projects: &[ProjectId],
    ) -> Result<Vec<(ProjectId, ImportState)>, StoreError>;
}
