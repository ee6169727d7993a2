//! The port to the stored services.

use super::{ProjectService, Properties, ServiceKind};
use crate::Timestamp;
use crate::id::ProjectId;
use crate::ports::store_error::StoreError;

/// The services of all projects. A caller that changes a service locks its project first.
pub trait Services {
    /// The service of a project, if its settings were ever changed.
    fn find(
        &mut self,
        project: ProjectId,
        kind: ServiceKind,
    ) -> Result<Option<ProjectService>, StoreError>;

    /// The services of these projects that have a [delivery URL](ProjectService::delivery_url), by id.
    fn receivers_of(&mut self, projects: &[ProjectId]) -> Result<Vec<ProjectService>, StoreError>;

    /// The active services of a project that [change links](ServiceKind::is_link), by id.
    fn links_of(&mut self, project: ProjectId) -> Result<Vec<ProjectService>, StoreError>;

    /// Stores the settings of a service for the first time: whether it is active, and its properties.
    /// # Errors
    /// [`StoreError::Duplicate`]`("service")` when the project has the service.
    fn insert(
        &mut self,
        project: ProjectId,
        kind: ServiceKind,
        settings: (bool, Properties),
        at: Timestamp,
    ) -> Result<ProjectService, StoreError>;

    /// Updates whether a service is active, its properties and its time. Its deliveries are deleted if it has no
    /// [delivery URL](ProjectService::delivery_url) any more.
    fn update(&mut self, service: &ProjectService) -> Result<(), StoreError>;
}
