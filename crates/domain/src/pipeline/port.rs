//! The port to the stored pipelines.

use super::{CommitFacts, NewPipeline, Pipeline, PipelineScope};
use crate::ci::status::Status;
use crate::commit::ObjectId;
use crate::id::{PipelineId, ProjectId};
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;

/// The pipelines of all projects. The caller locks a pipeline before it changes the pipeline or one
/// of its builds, so that the status never contradicts the builds.
pub trait Pipelines {
    /// Returns a page of the pipelines of a project, newest first.
    fn list(
        &mut self,
        project: ProjectId,
        scope: PipelineScope,
        page: Page,
    ) -> Result<Paged<Pipeline>, StoreError>;

    /// Records whether a branch or tag exists, for [`PipelineScope::Branches`] and
    /// [`PipelineScope::Tags`]. A ref without a record since its first pipeline counts as existing.
    fn note_ref(
        &mut self,
        project: ProjectId,
        tag: bool,
        reference: &str,
        present: bool,
    ) -> Result<(), StoreError>;

    /// Returns the pipeline with this id if it belongs to the project.
    fn find(&mut self, project: ProjectId, id: PipelineId) -> Result<Option<Pipeline>, StoreError>;

    /// Returns the pipelines with these ids, in no particular order.
    fn find_all(&mut self, ids: &[PipelineId]) -> Result<Vec<Pipeline>, StoreError>;

    /// Returns and locks the pipeline with this id. Until the transaction ends, no other
    /// transaction can change or lock it, nor delete its project.
    fn lock(&mut self, id: PipelineId) -> Result<Option<Pipeline>, StoreError>;

    /// Like [`Pipelines::lock`], but does not wait: returns `None` also while another transaction
    /// has locked the pipeline or its project.
    fn try_lock(&mut self, id: PipelineId) -> Result<Option<Pipeline>, StoreError>;

    /// Returns the newest pipeline of a branch or tag with this status.
    fn newest_with_status(
        &mut self,
        project: ProjectId,
        reference: &str,
        status: Status,
    ) -> Result<Option<Pipeline>, StoreError>;

    /// Returns the pipelines of a commit, newest first.
    fn of_commit(&mut self, project: ProjectId, sha: ObjectId)
    -> Result<Vec<Pipeline>, StoreError>;

    /// Returns the pipelines of these commits of a project, in no particular order.
    fn of_commits(
        &mut self,
        project: ProjectId,
        shas: &[ObjectId],
    ) -> Result<Vec<Pipeline>, StoreError>;

    /// Returns the stored commit copies of these pipelines, in no particular order.
    fn commits(&mut self, ids: &[PipelineId])
    -> Result<Vec<(PipelineId, CommitFacts)>, StoreError>;

    /// Creates a pipeline that has not started.
    fn insert(&mut self, new: NewPipeline) -> Result<Pipeline, StoreError>;

    /// Stores the status, the duration, and the times of update, start and end. All other fields
    /// are ignored.
    fn update(&mut self, pipeline: &Pipeline) -> Result<(), StoreError>;
}
