//! The port to the stored triggers.

use super::{Trigger, TriggerRequest};
use crate::Timestamp;
use crate::id::{PipelineId, ProjectId, TriggerId};
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;
use crate::ports::vault::Sealed;

/// The triggers of all projects.
pub trait Triggers {
    /// Triggers of a project, oldest first.
    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<Trigger>, StoreError>;

    /// The trigger of that id.
    fn find(&mut self, id: TriggerId) -> Result<Option<Trigger>, StoreError>;

    /// Makes a trigger.
    fn insert(&mut self, project: ProjectId, at: Timestamp) -> Result<Trigger, StoreError>;

    /// Removes a trigger. Pipelines that it started stay.
    fn delete(&mut self, id: TriggerId) -> Result<(), StoreError>;

    /// Writes down that a trigger started a pipeline, and when it was last used.
    fn used(
        &mut self,
        trigger: TriggerId,
        pipeline: PipelineId,
        variables: &Sealed,
        at: Timestamp,
    ) -> Result<TriggerRequest, StoreError>;

    /// By what a pipeline was started, if it was by a trigger.
    fn request_of(&mut self, pipeline: PipelineId) -> Result<Option<TriggerRequest>, StoreError>;
}
