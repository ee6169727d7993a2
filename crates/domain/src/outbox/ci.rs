//! Events of pipelines and builds, for project hooks.

use super::parts::{Person, ProjectCard};
use crate::Timestamp;
use crate::build::{Artifacts, Build};
use crate::ci::status::Status;
use crate::ci::when::When;
use crate::commit::ObjectId;
use crate::id::{BuildId, PipelineId, RunnerId};
use crate::pipeline::{CommitFacts, Pipeline};
use crate::runner::Runner;

/// A build was created, started or finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildEvent {
    /// The project.
    pub project: ProjectCard,
    /// The display name: namespace name and project name.
    pub project_name: String,
    /// The pipeline of the build after the change.
    pub pipeline: PipelineRow,
    /// The commit of the pipeline.
    pub commit: CommitFacts,
    /// The build after the change.
    pub build: BuildRow,
    /// Whether the pipeline may succeed although the build fails.
    pub allow_failure: bool,
}

/// The status of a pipeline changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineEvent {
    /// The project.
    pub project: ProjectCard,
    /// The default branch of the project.
    pub default_branch: Option<String>,
    /// The pipeline after the change.
    pub pipeline: PipelineRow,
    /// The user who pushed or requested the pipeline.
    pub user: Option<Person>,
    /// The commit of the pipeline.
    pub commit: CommitFacts,
    /// The names of its stages, in order.
    pub stages: Vec<String>,
    /// Its builds, by stage.
    pub builds: Vec<BuildRow>,
}

/// The data of a pipeline in hook payloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineRow {
    /// See [`Pipeline::id`].
    pub id: PipelineId,
    /// See [`Pipeline::reference`].
    pub reference: String,
    /// See [`Pipeline::tag`].
    pub tag: bool,
    /// See [`Pipeline::sha`].
    pub sha: ObjectId,
    /// See [`Pipeline::before_sha`].
    pub before_sha: ObjectId,
    /// See [`Pipeline::status`].
    pub status: Status,
    /// See [`Pipeline::created_at`].
    pub created_at: Timestamp,
    /// See [`Pipeline::started_at`].
    pub started_at: Option<Timestamp>,
    /// See [`Pipeline::finished_at`].
    pub finished_at: Option<Timestamp>,
    /// See [`Pipeline::duration`].
    pub duration: Option<i64>,
}

impl From<&Pipeline> for PipelineRow {
    fn from(pipeline: &Pipeline) -> Self {
        Self {
            id: pipeline.id,
            reference: pipeline.reference.clone(),
            tag: pipeline.tag,
            sha: pipeline.sha,
            before_sha: pipeline.before_sha,
            status: pipeline.status,
            created_at: pipeline.created_at,
            started_at: pipeline.started_at,
            finished_at: pipeline.finished_at,
            duration: pipeline.duration,
        }
    }
}

/// The data of a build in hook payloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildRow {
    /// See [`Build::id`].
    pub id: BuildId,
    /// See [`Build::stage`].
    pub stage: String,
    /// See [`Build::name`].
    pub name: String,
    /// See [`Build::status`].
    pub status: Status,
    /// See [`Build::created_at`].
    pub created_at: Timestamp,
    /// See [`Build::started_at`].
    pub started_at: Option<Timestamp>,
    /// See [`Build::finished_at`].
    pub finished_at: Option<Timestamp>,
    /// See [`Build::when`].
    pub when: When,
    /// The user who started the build.
    pub user: Option<Person>,
    /// The runner that took the build.
    pub runner: Option<RunnerRow>,
    /// File name and size in bytes of [`Build::artifacts`].
    pub artifacts: Option<(String, u64)>,
}

impl BuildRow {
    /// Combines a build with its user and runner.
    pub fn new(build: &Build, user: Option<Person>, runner: Option<&Runner>) -> Self {
        let file = |file: &Artifacts| (file.file_name.clone(), file.size);
        Self {
            id: build.id,
            stage: build.stage.clone(),
            name: build.name.clone(),
            status: build.status,
            created_at: build.created_at,
            started_at: build.started_at,
            finished_at: build.finished_at,
            when: build.when,
            user,
            runner: runner.map(RunnerRow::from),
            artifacts: build.artifacts.as_ref().map(file),
        }
    }
}

/// The data of a runner in hook payloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerRow {
    /// See [`Runner::id`].
    pub id: RunnerId,
    /// See [`Runner::description`].
    pub description: String,
    /// See [`Runner::active`].
    pub active: bool,
    /// See [`Runner::shared`].
    pub shared: bool,
}

impl From<&Runner> for RunnerRow {
    fn from(runner: &Runner) -> Self {
        Self {
            id: runner.id,
            description: runner.description.clone(),
            active: runner.active,
            shared: runner.shared,
        }
    }
}
