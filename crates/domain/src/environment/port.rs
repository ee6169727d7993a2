//! The port to the stored environments.

use super::{Environment, NewEnvironment};
use crate::branch::BranchName;
use crate::id::{EnvironmentId, ProjectId};
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;

/// The environments of all projects. A caller that changes an environment locks its project first.
pub trait Environments {
    /// The environments of a project, oldest first.
    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<Environment>, StoreError>;

    /// The environment with this id, if it belongs to the project.
    fn find(
        &mut self,
        project: ProjectId,
        id: EnvironmentId,
    ) -> Result<Option<Environment>, StoreError>;

    /// The environments with these ids, in any order.
    fn find_all(&mut self, ids: &[EnvironmentId]) -> Result<Vec<Environment>, StoreError>;

    /// The environment of a project with exactly this name.
    fn find_by_name(
        &mut self,
        project: ProjectId,
        name: &str,
    ) -> Result<Option<Environment>, StoreError>;

    /// The environment of a project with exactly this URL.
    fn find_by_url(
        &mut self,
        project: ProjectId,
        url: &str,
    ) -> Result<Option<Environment>, StoreError>;

    /// The available environments of a project that the deletion of these branches stops, in any order, at most
    /// `limit`.
    fn to_stop(
        &mut self,
        project: ProjectId,
        branches: &[BranchName],
        limit: u32,
    ) -> Result<Vec<Environment>, StoreError>;

    /// Creates an available environment.
    /// # Errors
    /// [`StoreError::Duplicate`] with `name` or `external_url` when another environment of the project has it.
    fn insert(&mut self, new: NewEnvironment) -> Result<Environment, StoreError>;

    /// Updates name, URL, state, branch and time of an environment.
    /// # Errors
    /// As [`insert`](Self::insert).
    fn update(&mut self, environment: &Environment) -> Result<(), StoreError>;

    /// Deletes an environment with its deployments. The rows of many deployments are deleted afterwards, in steps; see
    /// [`Removals`](crate::removal::port::Removals).
    fn delete(&mut self, id: EnvironmentId) -> Result<(), StoreError>;
}
