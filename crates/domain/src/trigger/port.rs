//! The port to the stored triggers.

use super::{Trigger, TriggerRequest};
use crate::Timestamp;
use crate::id::{PipelineId, ProjectId, TriggerId};
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;
use crate::ports::vault::Sealed;

/// The triggers of all projects.
pub trait Triggers {
    /// Returns a page of the triggers of a project, oldest first.
    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<Trigger>, StoreError>;

    /// Returns the trigger with this id.
    fn find(&mut self, id: TriggerId) -> Result<Option<Trigger>, StoreError>;

    /// Creates a trigger.
    fn insert(&mut self, project: ProjectId, at: Timestamp) -> Result<Trigger, StoreError>;

    /// Deletes a trigger. The pipelines that it started are kept.
    fn delete(&mut self, id: TriggerId) -> Result<(), StoreError>;

    /// Records that a trigger started a pipeline, and sets the time of its last use.
    fn record_use(
        &mut self,
        trigger: TriggerId,
        pipeline: PipelineId,
        variables: &Sealed,
        at: Timestamp,
    ) -> Result<TriggerRequest, StoreError>;

    /// Returns the trigger request that started a pipeline, if any.
    fn request_of(&mut self, pipeline: PipelineId) -> Result<Option<TriggerRequest>, StoreError>;
}
