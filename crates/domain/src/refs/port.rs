//! The port to stored refs.

use super::{Ref, RepositoryState};
use crate::id::ProjectId;
use crate::ports::store::StoreError;

/// Refs and HEAD of all repositories. Names are compared and ordered by their bytes.
pub trait Refs {
    /// The state of a repository; `None` when nothing was ever put into the repository.
    fn state(&mut self, project: ProjectId) -> Result<Option<RepositoryState>, StoreError>;

    /// The same, made when it is missing. Other transactions that lock the state wait until this one ends. Each change
    /// below is made after a lock.
    /// # Errors
    /// [`StoreError::Gone`] when there is no such project.
    fn lock(&mut self, project: ProjectId) -> Result<RepositoryState, StoreError>;

    /// The refs of exactly these names, in any order.
    fn find(&mut self, project: ProjectId, names: &[&str]) -> Result<Vec<Ref>, StoreError>;

    /// Those of these names that other refs use as a folder: `refs/heads/a` when there is `refs/heads/a/b`.
    fn folders_among(
        &mut self,
        project: ProjectId,
        names: &[&str],
    ) -> Result<Vec<String>, StoreError>;

    /// All refs of a repository, by name.
    fn list(&mut self, project: ProjectId) -> Result<Vec<Ref>, StoreError>;

    /// Stores refs. A ref whose name exists holds the new object from then on. No two of the refs have the same name.
    fn put(&mut self, project: ProjectId, refs: &[Ref]) -> Result<(), StoreError>;

    /// Removes the refs of these names; a missing ref is passed over.
    fn remove(&mut self, project: ProjectId, names: &[&str]) -> Result<(), StoreError>;

    /// Points HEAD to another ref, given by its full name.
    fn set_head(&mut self, project: ProjectId, head: &str) -> Result<(), StoreError>;

    /// Up to `limit` repositories of projects after one whose refs or packs are still [in
    /// files](super::RepositoryState::IN_FILES), by id.
    fn in_files(&mut self, after: ProjectId, limit: i64) -> Result<Vec<ProjectId>, StoreError>;

    /// Copies the branches, tags and HEAD of `source` to `target`, which has no refs. A missing source changes nothing.
    fn copy(&mut self, source: ProjectId, target: ProjectId) -> Result<(), StoreError>;
}
