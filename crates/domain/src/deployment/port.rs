//! The port to the stored deployments.

use super::{Deployment, NewDeployment};
use crate::id::{DeploymentId, EnvironmentId, ProjectId};
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;

/// The deployments of all projects. They are deleted with their environment and with their project.
pub trait Deployments {
    /// The deployments of a project, oldest first.
    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<Deployment>, StoreError>;

    /// The deployment with this id, if it belongs to the project.
    fn find(
        &mut self,
        project: ProjectId,
        id: DeploymentId,
    ) -> Result<Option<Deployment>, StoreError>;

    /// The deployments to an environment, newest first.
    fn list_to(
        &mut self,
        environment: EnvironmentId,
        page: Page,
    ) -> Result<Paged<Deployment>, StoreError>;

    /// The newest deployment to an environment.
    fn last_to(&mut self, environment: EnvironmentId) -> Result<Option<Deployment>, StoreError>;

    /// Creates a deployment and assigns the next number of its project. Numbers of deleted deployments are not reused.
    fn insert(&mut self, new: NewDeployment) -> Result<Deployment, StoreError>;
}
