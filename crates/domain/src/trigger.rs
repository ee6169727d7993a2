//! Triggers: by which programs elsewhere start pipelines.

pub mod port;

use crate::Timestamp;
use crate::id::{PipelineId, ProjectId, TriggerId, TriggerRequestId};
use crate::ports::vault::Sealed;

/// A trigger as it is stored. Its token is made of its id; see
/// [`Vault::token`](crate::ports::vault::Vault::token).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// Assigned by the store, never reused.
    pub id: TriggerId,
    /// Whose pipelines it starts.
    pub project: ProjectId,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When it last started a pipeline.
    pub last_used_at: Option<Timestamp>,
}

/// A pipeline that was started by a trigger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriggerRequest {
    /// Assigned by the store.
    pub id: TriggerRequestId,
    /// The pipeline.
    pub pipeline: PipelineId,
    /// The trigger; `None` when it is gone.
    pub trigger: Option<TriggerId>,
    /// The variables that were given with it.
    pub variables: Sealed,
    /// When that was.
    pub created_at: Timestamp,
}
