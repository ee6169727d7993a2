//! The port to the stored pipelines.

use super::{CommitFacts, NewPipeline, Pipeline, PipelineScope};
use crate::ci::status::Status;
use crate::commit::ObjectId;
use crate::id::{PipelineId, ProjectId};
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;

/// The pipelines of all projects. Whoever changes one or a build of it locks the pipeline first, so that its
/// status never contradicts its builds.
pub trait Pipelines {
    /// Pipelines of a project, newest first.
    fn list(
        &mut self,
        project: ProjectId,
        scope: PipelineScope,
        page: Page,
    ) -> Result<Paged<Pipeline>, StoreError>;

    /// Notes whether a branch or tag is there, which counts for [`PipelineScope::Branches`] and
    /// [`PipelineScope::Tags`]. One of which nothing was noted since its first pipeline is there.
    fn note_ref(
        &mut self,
        project: ProjectId,
        tag: bool,
        reference: &str,
        present: bool,
    ) -> Result<(), StoreError>;

    /// The pipeline of that id, if it is that project's.
    fn find(&mut self, project: ProjectId, id: PipelineId) -> Result<Option<Pipeline>, StoreError>;

    /// The pipelines of these ids, in no particular order.
    fn find_all(&mut self, ids: &[PipelineId]) -> Result<Vec<Pipeline>, StoreError>;

    /// The pipeline of that id; until the transaction ends nobody else changes or locks it, nor removes its
    /// project.
    fn lock(&mut self, id: PipelineId) -> Result<Option<Pipeline>, StoreError>;

    /// Like [`Pipelines::lock`], but without waiting: `None` also while somebody else holds it or its project.
    fn try_lock(&mut self, id: PipelineId) -> Result<Option<Pipeline>, StoreError>;

    /// The newest pipeline of a branch or tag that has this status.
    fn newest_with_status(
        &mut self,
        project: ProjectId,
        reference: &str,
        status: Status,
    ) -> Result<Option<Pipeline>, StoreError>;

    /// The pipelines of a commit, newest first.
    fn of_commit(&mut self, project: ProjectId, sha: ObjectId)
    -> Result<Vec<Pipeline>, StoreError>;

    /// What is kept of the commits of these pipelines, in no particular order.
    fn commits(&mut self, ids: &[PipelineId])
    -> Result<Vec<(PipelineId, CommitFacts)>, StoreError>;

    /// Makes a pipeline that has neither begun nor ended.
    fn insert(&mut self, new: NewPipeline) -> Result<Pipeline, StoreError>;

    /// Stores the status, the moments and the duration; nothing else changes.
    fn update(&mut self, pipeline: &Pipeline) -> Result<(), StoreError>;
}
