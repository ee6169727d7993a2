//! Pipelines: what is done for one state of a branch or tag.

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
    /// Whose it is.
    pub project: ProjectId,
    /// Who pushed or asked for it; `None` when that user is gone, or nobody did.
    pub user: Option<UserId>,
    /// The commit it is about.
    pub sha: ObjectId,
    /// That commit again for pushes, zeros otherwise.
    pub before_sha: ObjectId,
    /// The branch or tag, without `refs/`.
    pub reference: String,
    /// Whether that is a tag.
    pub tag: bool,
    /// What its builds make of it.
    pub status: Status,
    /// Why the configuration could not be used.
    pub yaml_errors: Option<String>,
    /// How long its builds ran, in seconds.
    pub duration: Option<i64>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When it first ran.
    pub started_at: Option<Timestamp>,
    /// When it last came to an end.
    pub finished_at: Option<Timestamp>,
}

/// What is needed to make a pipeline.
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
    /// The commit as it is kept.
    pub commit: CommitFacts,
    /// The moment of creation.
    pub at: Timestamp,
}

/// What is kept of a commit, which may be gone when it is told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitFacts {
    /// The whole message.
    pub message: String,
    /// The author's name.
    pub author_name: String,
    /// The author's address.
    pub author_email: String,
    /// When it was written.
    pub authored_at: DateTime<FixedOffset>,
    /// When it was committed.
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

/// Which pipelines of a project are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PipelineScope {
    /// All.
    #[default]
    All,
    /// Those that wait or run.
    Active,
    /// The newest of each branch that is there.
    Branches,
    /// The newest of each tag that is there.
    Tags,
}
