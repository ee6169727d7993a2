//! Builds: the jobs of pipelines, and what others say of commits, which counts like a build.

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
    /// Whose it is.
    pub project: ProjectId,
    /// Of which pipeline it is a part.
    pub pipeline: PipelineId,
    /// What runners do for it, or what others said.
    pub kind: BuildKind,
    /// Its name; of several of a name in a pipeline the newest counts.
    pub name: String,
    /// The stage it belongs to.
    pub stage: String,
    /// The place of that stage.
    pub stage_index: i32,
    /// How far it is.
    pub status: Status,
    /// When it is to run.
    pub when: When,
    /// Whether its failure does no harm.
    pub allow_failure: bool,
    /// What a runner has to have to take it.
    pub tags: Tags,
    /// Whether a newer one of the same name counts in its place.
    pub superseded: bool,
    /// Who started it; `None` when that user is gone, or nobody did.
    pub user: Option<UserId>,
    /// Who took it; `None` before, and when that runner is gone.
    pub runner: Option<RunnerId>,
    /// In percent, as its log said.
    pub coverage: Option<f64>,
    /// The file it made.
    pub artifacts: Option<Artifacts>,
    /// When its log and artifacts were removed.
    pub erased_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed, or last heard of.
    pub updated_at: Timestamp,
    /// When it began to wait for a runner.
    pub queued_at: Option<Timestamp>,
    /// When it was taken.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
}

/// What a row among builds is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildKind {
    /// A job for runners, which is to do this.
    Job(DefinitionId),
    /// What somebody else says of a commit.
    External {
        /// Where there is more about it.
        target_url: Option<String>,
        /// What it is.
        description: Option<String>,
    },
}

impl BuildKind {
    /// Whether it is for runners.
    pub fn is_job(&self) -> bool {
        match self {
            BuildKind::Job(_) => true,
            BuildKind::External { .. } => false,
        }
    }
}

/// A file that a build made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifacts {
    /// As the runner called it.
    pub file_name: String,
    /// In bytes.
    pub size: u64,
    /// From when on it is gone; never, if `None`.
    pub expire_at: Option<Timestamp>,
}

impl Build {
    /// The file it made, while that is there.
    pub fn artifacts_at(&self, now: Timestamp) -> Option<&Artifacts> {
        let there = |artifacts: &&Artifacts| artifacts.expire_at.is_none_or(|end| now < end);
        self.artifacts.as_ref().filter(there)
    }
}

/// What a job runs, as it is kept for runners.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildDefinition {
    /// The lines of its scripts.
    pub commands: String,
    /// What else the configuration says of it.
    pub options: Options,
    /// The variables of the configuration.
    pub variables: Vec<(String, String)>,
}

/// What is needed to make a build.
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
    /// The moment of creation.
    pub at: Timestamp,
}

/// What builds ask of runners, and runners have: words, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tags(BTreeSet<String>);

impl Tags {
    /// The words in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all of these are among others.
    pub fn are_among(&self, others: &Tags) -> bool {
        self.0.is_subset(&others.0)
    }
}

impl<T: Into<String>> FromIterator<T> for Tags {
    fn from_iter<I: IntoIterator<Item = T>>(words: I) -> Self {
        Self(words.into_iter().map(Into::into).collect())
    }
}

/// Which builds of a project are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildFilter {
    /// Those with one of these statuses; all, if `None`.
    pub statuses: Option<Vec<Status>>,
    /// Those of a commit.
    pub commit: Option<ObjectId>,
}

/// Which builds and words of others about a commit are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusFilter {
    /// The commit.
    pub commit: ObjectId,
    /// Of one branch or tag.
    pub reference: Option<String>,
    /// Of one stage.
    pub stage: Option<String>,
    /// Of one name.
    pub name: Option<String>,
    /// Those that do not count any more, too.
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
