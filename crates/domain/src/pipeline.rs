//! Pipelines: the builds for one commit of a branch or tag.

pub mod port;

use chrono::{DateTime, FixedOffset};

use crate::Timestamp;
use crate::ci::status::Status;
use crate::commit::{Commit, ObjectId};
use crate::id::{PipelineId, ProjectId, UserId};

/// A pipeline as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// Assigned by the store, never reused.
    pub id: PipelineId,
    /// The project of the pipeline.
    pub project: ProjectId,
    /// The user who pushed or requested the pipeline; `None` when no user did, or when the user was
    /// deleted.
    pub user: Option<UserId>,
    /// The commit that the pipeline builds.
    pub sha: ObjectId,
    /// The value of `before_sha` in the API: the same commit if a push created the pipeline, zeros
    /// otherwise.
    pub before_sha: ObjectId,
    /// The name of the branch or tag, without its `refs/…/` prefix.
    pub reference: String,
    /// Whether the ref is a tag.
    pub tag: bool,
    /// The status, derived from the builds.
    pub status: Status,
    /// The error message of an invalid CI configuration.
    pub yaml_errors: Option<String>,
    /// The total run time of the builds in seconds.
    pub duration: Option<i64>,
    /// The creation time.
    pub created_at: Timestamp,
    /// The time of the last change.
    pub updated_at: Timestamp,
    /// When the pipeline first started.
    pub started_at: Option<Timestamp>,
    /// When the pipeline last finished.
    pub finished_at: Option<Timestamp>,
}

/// The input for a new pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPipeline {
    /// See [`Pipeline::project`].
    pub project: ProjectId,
    /// See [`Pipeline::user`].
    pub user: Option<UserId>,
    /// See [`Pipeline::sha`].
    pub sha: ObjectId,
    /// See [`Pipeline::before_sha`].
    pub before_sha: ObjectId,
    /// See [`Pipeline::reference`].
    pub reference: String,
    /// See [`Pipeline::tag`].
    pub tag: bool,
    /// See [`Pipeline::status`].
    pub status: Status,
    /// See [`Pipeline::yaml_errors`].
    pub yaml_errors: Option<String>,
    /// The copy of the commit that is stored with the pipeline.
    pub commit: CommitFacts,
    /// The creation time.
    pub at: Timestamp,
}

/// The copy of a commit that is stored with a pipeline. The commit may be deleted before it is
/// shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitFacts {
    /// The whole message.
    pub message: String,
    /// The author's name.
    pub author_name: String,
    /// The author's e-mail address.
    pub author_email: String,
    /// The author time.
    pub authored_at: DateTime<FixedOffset>,
    /// The commit time.
    pub committed_at: DateTime<FixedOffset>,
}

impl From<&Commit> for CommitFacts {
    fn from(commit: &Commit) -> Self {
        Self {
            message: commit.message.clone(),
            author_name: commit.author.name.clone(),
            author_email: commit.author.email.clone(),
            authored_at: commit.author.at,
            committed_at: commit.committer.at,
        }
    }
}

/// A filter of the pipelines of a project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PipelineScope {
    /// All pipelines.
    #[default]
    All,
    /// Pending and running pipelines.
    Active,
    /// The newest pipeline of each existing branch.
    Branches,
    /// The newest pipeline of each existing tag.
    Tags,
}
