//! The port to the stored builds.

use super::{Build, BuildDefinition, BuildFilter, NewBuild, StatusFilter};
use crate::Timestamp;
use crate::id::{BuildId, DefinitionId, PipelineId, ProjectId};
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;
use crate::runner::Runner;

/// The builds of all projects, and what others say of commits. Whoever changes one locks its pipeline first.
pub trait Builds {
    /// Jobs of a project that fit the filter, newest first.
    fn list(
        &mut self,
        project: ProjectId,
        filter: &BuildFilter,
        page: Page,
    ) -> Result<Paged<Build>, StoreError>;

    /// Jobs and words of others about a commit, oldest first.
    fn statuses(
        &mut self,
        project: ProjectId,
        filter: &StatusFilter,
        page: Page,
    ) -> Result<Paged<Build>, StoreError>;

    /// The one of that id.
    fn find(&mut self, id: BuildId) -> Result<Option<Build>, StoreError>;

    /// All of a pipeline, superseded ones too, oldest first.
    fn of_pipeline(&mut self, pipeline: PipelineId) -> Result<Vec<Build>, StoreError>;

    /// Keeps what a job of a pipeline is to do.
    fn define(
        &mut self,
        pipeline: PipelineId,
        definition: &BuildDefinition,
    ) -> Result<DefinitionId, StoreError>;

    /// What a job is to do.
    fn definition(&mut self, id: DefinitionId) -> Result<Option<BuildDefinition>, StoreError>;

    /// Makes one that was not taken yet; those of the same name in its pipeline are superseded by it.
    fn insert(&mut self, new: NewBuild) -> Result<Build, StoreError>;

    /// Stores everything but what a build is: status, user, runner, artifacts, coverage and the moments.
    fn update(&mut self, build: &Build) -> Result<(), StoreError>;

    /// The jobs that a runner is to take next, best first, at most `limit`: of each project that has builds
    /// the oldest that waits and whose tags the runner takes. A runner that looks everywhere takes those of
    /// projects that want shared runners, of projects with fewer builds running on shared runners first;
    /// any other those of its own projects. Then the oldest comes first.
    fn next_for(&mut self, runner: &Runner, limit: u32) -> Result<Vec<Build>, StoreError>;

    /// Jobs that wait or run and were not heard of since a moment, longest silence first, at most `limit`.
    fn silent_since(&mut self, moment: Timestamp, limit: u32) -> Result<Vec<Build>, StoreError>;

    /// Those whose artifacts have expired, at most `limit`.
    fn with_artifacts_expired(
        &mut self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Build>, StoreError>;
}
