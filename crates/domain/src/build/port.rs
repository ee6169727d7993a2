//! The port to the stored builds.

use super::{Build, BuildDefinition, BuildFilter, NewBuild, Silence, StageSummary, StatusFilter};
use crate::Timestamp;
use crate::id::{BuildId, DefinitionId, PipelineId, ProjectId, RunnerId};
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;
use crate::runner::Runner;

/// The builds of all projects, and the external statuses of commits. A caller that changes a build locks its pipeline
/// first.
pub trait Builds {
    /// The jobs of a project that match the filter, newest first.
    fn list(
        &mut self,
        project: ProjectId,
        filter: &BuildFilter,
        page: Page,
    ) -> Result<Paged<Build>, StoreError>;

    /// The jobs and external statuses of a commit, oldest first.
    fn statuses(
        &mut self,
        project: ProjectId,
        filter: &StatusFilter,
        page: Page,
    ) -> Result<Paged<Build>, StoreError>;

    /// The build with this id.
    fn find(&mut self, id: BuildId) -> Result<Option<Build>, StoreError>;

    /// The builds with these ids, in any order.
    fn find_all(&mut self, ids: &[BuildId]) -> Result<Vec<Build>, StoreError>;

    /// All builds of a pipeline, superseded ones included, oldest first.
    fn of_pipeline(&mut self, pipeline: PipelineId) -> Result<Vec<Build>, StoreError>;

    /// The stages of these pipelines, by pipeline and stage: one row for each status that a build of the stage has.
    /// Superseded builds are left out.
    fn stages_of(
        &mut self,
        pipelines: &[PipelineId],
    ) -> Result<Vec<(PipelineId, StageSummary)>, StoreError>;

    /// Stores the definition of a job of a pipeline.
    fn define(
        &mut self,
        pipeline: PipelineId,
        definition: &BuildDefinition,
    ) -> Result<DefinitionId, StoreError>;

    /// The definition of a job.
    fn definition(&mut self, id: DefinitionId) -> Result<Option<BuildDefinition>, StoreError>;

    /// Creates a build that no runner has taken. Supersedes the builds of the same name in its pipeline.
    fn insert(&mut self, new: NewBuild) -> Result<Build, StoreError>;

    /// Updates the mutable fields of a build: status, user, runner, artifacts, coverage and the times.
    fn update(&mut self, build: &Build) -> Result<(), StoreError>;

    /// The jobs that a runner should take next, best first, at most `limit`. Each project with builds enabled has at
    /// most one job in the list: its oldest pending job whose tags [`Runner::takes`] accepts.
    ///
    /// A shared runner that is not locked takes jobs of all projects that allow shared runners. Projects with fewer
    /// builds running on shared runners come first, then older jobs. Any other runner takes jobs of its own projects,
    /// the oldest first.
    fn next_for(&mut self, runner: &Runner, limit: u32) -> Result<Vec<Build>, StoreError>;

    /// The pending and running jobs without a report since these moments, longest silence first, at most `limit`.
    fn silent_since(&mut self, since: Silence, limit: u32) -> Result<Vec<Build>, StoreError>;

    /// The jobs that a runner runs now, oldest first.
    fn running_on(&mut self, runner: RunnerId) -> Result<Vec<Build>, StoreError>;

    /// The builds whose artifacts have expired, at most `limit`.
    fn with_artifacts_expired(
        &mut self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Build>, StoreError>;
}
