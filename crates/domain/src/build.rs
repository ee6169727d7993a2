//! Builds: the jobs of pipelines. A status that an external system sets on a commit is also stored as a build.

pub mod port;

use std::collections::BTreeSet;

use crate::Timestamp;
use crate::ci::config::Options;
use crate::ci::status::Status;
use crate::ci::when::When;
use crate::commit::ObjectId;
use crate::id::{BuildId, DefinitionId, PipelineId, ProjectId, RunnerId, UserId};

/// A build as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Build {
    /// Assigned by the store, never reused.
    pub id: BuildId,
    /// The project of the build.
    pub project: ProjectId,
    /// The pipeline of the build.
    pub pipeline: PipelineId,
    /// A job for runners, or an external status.
    pub kind: BuildKind,
    /// The name. If several builds of a pipeline have the same name, only the newest counts for the pipeline.
    pub name: String,
    /// The name of the stage.
    pub stage: String,
    /// The index of the stage in the pipeline.
    pub stage_index: i32,
    /// The current status.
    pub status: Status,
    /// The condition under which the build runs.
    pub when: When,
    /// Whether the pipeline can succeed although this build failed.
    pub allow_failure: bool,
    /// The tags that a runner must have to take the build.
    pub tags: Tags,
    /// Whether a newer build of the same name replaced this one.
    pub superseded: bool,
    /// The user who started the build; `None` when no user did, or when that user was deleted.
    pub user: Option<UserId>,
    /// The runner that took the build; `None` before that, and when that runner was deleted.
    pub runner: Option<RunnerId>,
    /// The test coverage in percent, from the log.
    pub coverage: Option<f64>,
    /// The artifacts file.
    pub artifacts: Option<Artifacts>,
    /// When its log and artifacts were erased.
    pub erased_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed, or when its runner last reported.
    pub updated_at: Timestamp,
    /// When it became pending, waiting for a runner.
    pub queued_at: Option<Timestamp>,
    /// When a runner took it.
    pub started_at: Option<Timestamp>,
    /// When it finished.
    pub finished_at: Option<Timestamp>,
}

/// The kind of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildKind {
    /// A job for runners, with its definition.
    Job(DefinitionId),
    /// A status that an external system set on a commit.
    External {
        /// The URL of the details page.
        target_url: Option<String>,
        /// A short description.
        description: Option<String>,
    },
}

impl BuildKind {
    /// Returns whether it is a job for runners.
    pub fn is_job(&self) -> bool {
        match self {
            BuildKind::Job(_) => true,
            BuildKind::External { .. } => false,
        }
    }
}

/// The artifacts file of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifacts {
    /// The file name as the runner sent it.
    pub file_name: String,
    /// The size in bytes.
    pub size: u64,
    /// When the file expires; never, if `None`.
    pub expire_at: Option<Timestamp>,
}

impl Build {
    /// The artifacts, unless they have expired.
    pub fn artifacts_at(&self, now: Timestamp) -> Option<&Artifacts> {
        let is_valid = |artifacts: &&Artifacts| artifacts.expire_at.is_none_or(|end| now < end);
        self.artifacts.as_ref().filter(is_valid)
    }
}

/// The definition of a job: what a runner executes.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildDefinition {
    /// The script, one command per line.
    pub commands: String,
    /// The other options of the job in the configuration.
    pub options: Options,
    /// The variables of the configuration.
    pub variables: Vec<(String, String)>,
}

/// The data to create a build.
#[derive(Clone, Debug, PartialEq)]
pub struct NewBuild {
    /// See [`Build::project`].
    pub project: ProjectId,
    /// See [`Build::pipeline`].
    pub pipeline: PipelineId,
    /// See [`Build::kind`].
    pub kind: BuildKind,
    /// See [`Build::name`].
    pub name: String,
    /// See [`Build::stage`].
    pub stage: String,
    /// See [`Build::stage_index`].
    pub stage_index: i32,
    /// See [`Build::status`].
    pub status: Status,
    /// See [`Build::when`].
    pub when: When,
    /// See [`Build::allow_failure`].
    pub allow_failure: bool,
    /// See [`Build::tags`].
    pub tags: Tags,
    /// See [`Build::user`].
    pub user: Option<UserId>,
    /// The time of creation.
    pub at: Timestamp,
}

/// Tags that builds require and runners have; each tag once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tags(BTreeSet<String>);

impl Tags {
    /// The tags in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Returns whether there are no tags.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether all of these tags are among `others`.
    pub fn are_among(&self, others: &Tags) -> bool {
        self.0.is_subset(&others.0)
    }
}

impl<T: Into<String>> FromIterator<T> for Tags {
    fn from_iter<I: IntoIterator<Item = T>>(words: I) -> Self {
        Self(words.into_iter().map(Into::into).collect())
    }
}

/// A stage of a pipeline, and one of the statuses of its builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageSummary {
    /// The index of the stage in the pipeline.
    pub index: i32,
    /// The name of the stage.
    pub name: String,
    /// The status.
    pub status: Status,
    /// Whether the pipeline can succeed although the builds with this status failed.
    pub allow_failure: bool,
}

/// Since when jobs have not been heard of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence {
    /// Pending jobs, which no runner took.
    pub pending: Timestamp,
    /// Running jobs, whose runner does not report.
    pub running: Timestamp,
}

/// A filter for the builds of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildFilter {
    /// Only builds with one of these statuses.
    pub statuses: Option<Vec<Status>>,
    /// Only builds of this commit.
    pub commit: Option<ObjectId>,
}

/// A filter for the statuses of a commit: jobs and external statuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusFilter {
    /// The commit.
    pub commit: ObjectId,
    /// Only statuses of this branch or tag.
    pub reference: Option<String>,
    /// Only statuses of this stage.
    pub stage: Option<String>,
    /// Only statuses with this name.
    pub name: Option<String>,
    /// Whether superseded statuses are included.
    pub superseded: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runner_needs_all_tags_of_a_build() {
        let tags = |words: &[&str]| Tags::from_iter(words.iter().copied());
        for (build, runner, fits) in [
            (tags(&[]), tags(&[]), true),
            (tags(&[]), tags(&["a"]), true),
            (tags(&["a"]), tags(&[]), false),
            (tags(&["b", "a"]), tags(&["a", "b", "c"]), true),
            (tags(&["a", "d"]), tags(&["a", "b"]), false),
        ] {
            assert_eq!(build.are_among(&runner), fits, "{build:?} {runner:?}");
        }
        assert_eq!(tags(&["b", "a", "b"]).iter().collect::<Vec<_>>(), ["a", "b"]);
    }
}
