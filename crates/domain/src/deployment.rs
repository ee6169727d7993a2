//! Deployments: the successful builds that deployed to an environment.

pub mod port;

use crate::Timestamp;
use crate::commit::ObjectId;
use crate::id::{BuildId, DeploymentId, EnvironmentId, ProjectId, UserId};

/// A deployment as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deployment {
    /// Assigned by the store, never reused.
    pub id: DeploymentId,
    /// The number in the project, from 1 on.
    pub iid: i64,
    /// The project of the deployment.
    pub project: ProjectId,
    /// The environment.
    pub environment: EnvironmentId,
    /// The build that deployed.
    pub build: BuildId,
    /// The branch or tag of the build.
    pub reference: String,
    /// The commit of the build.
    pub sha: ObjectId,
    /// The user who started the build; `None` when no user did, or when that user was deleted.
    pub user: Option<UserId>,
    /// The name of the job that stops the environment.
    pub on_stop: Option<String>,
    /// The time at which the build succeeded.
    pub created_at: Timestamp,
}

/// The data to create a deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDeployment {
    /// See [`Deployment::project`].
    pub project: ProjectId,
    /// See [`Deployment::environment`].
    pub environment: EnvironmentId,
    /// See [`Deployment::build`].
    pub build: BuildId,
    /// See [`Deployment::reference`].
    pub reference: String,
    /// See [`Deployment::sha`].
    pub sha: ObjectId,
    /// See [`Deployment::user`].
    pub user: Option<UserId>,
    /// See [`Deployment::on_stop`].
    pub on_stop: Option<String>,
    /// See [`Deployment::created_at`].
    pub at: Timestamp,
}
