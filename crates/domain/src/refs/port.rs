//! The port to stored refs.

use super::{Ref, RepositoryState};
use crate::id::ProjectId;
use crate::ports::store_error::StoreError;

/// Refs and HEAD of all repositories. Names are compared and ordered bytewise.
pub trait Refs {
    /// Returns the state of a repository; `None` when the repository never had content.
    fn state(&mut self, project: ProjectId) -> Result<Option<RepositoryState>, StoreError>;

    /// Returns and locks the state, and creates it if it is missing. Other transactions that lock
    /// the state wait until this transaction ends. All changes below require the lock.
    /// # Errors
    /// [`StoreError::Gone`] when the project does not exist.
    fn lock(&mut self, project: ProjectId) -> Result<RepositoryState, StoreError>;

    /// Returns the refs with exactly these names, in any order.
    fn find(&mut self, project: ProjectId, names: &[&str]) -> Result<Vec<Ref>, StoreError>;

    /// Returns those of these names that are folders of other refs: `refs/heads/a` when
    /// `refs/heads/a/b` exists.
    fn folders_among(
        &mut self,
        project: ProjectId,
        names: &[&str],
    ) -> Result<Vec<String>, StoreError>;

    /// Returns all refs of a repository, ordered by name.
    fn list(&mut self, project: ProjectId) -> Result<Vec<Ref>, StoreError>;

    /// Creates or overwrites refs. Each name may occur once.
    fn put(&mut self, project: ProjectId, refs: &[Ref]) -> Result<(), StoreError>;

    /// Deletes the refs with these names. Missing refs are skipped.
    fn remove(&mut self, project: ProjectId, names: &[&str]) -> Result<(), StoreError>;

    /// Points HEAD to another ref, given by its full name.
    fn set_head(&mut self, project: ProjectId, head: &str) -> Result<(), StoreError>;

    /// Returns up to `limit` projects with an id above `after` whose refs or packs are still [in
    /// files](super::RepositoryState::IN_FILES), ordered by id.
    fn projects_in_files(
        &mut self,
        after: ProjectId,
        limit: i64,
    ) -> Result<Vec<ProjectId>, StoreError>;

    /// Copies the branches, tags and HEAD of `source` to `target`, which has no refs. Does nothing
    /// if `source` has no state.
    fn copy(&mut self, source: ProjectId, target: ProjectId) -> Result<(), StoreError>;
}
