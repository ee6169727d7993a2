//! Runners: programs elsewhere that take builds.

pub mod port;

use crate::Timestamp;
use crate::build::Tags;
use crate::id::RunnerId;

/// A runner as it is stored. Its token is made of its id; see
/// [`Vault::token`](crate::ports::vault::Vault::token).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runner {
    /// Assigned by the store, never reused.
    pub id: RunnerId,
    /// What its owner says of it.
    pub description: String,
    /// Whether it is given builds.
    pub active: bool,
    /// Whether it takes builds of all projects that want shared runners.
    pub shared: bool,
    /// Whether it takes builds without tags.
    pub run_untagged: bool,
    /// Whether it stays with its projects.
    pub locked: bool,
    /// What it has.
    pub tags: Tags,
    /// What it says of itself.
    pub info: RunnerInfo,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When it last asked for a build.
    pub contacted_at: Option<Timestamp>,
}

/// What a runner says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunnerInfo {
    /// Its program.
    pub name: Option<String>,
    /// The version of that.
    pub version: Option<String>,
    /// The revision of that.
    pub revision: Option<String>,
    /// The system it is on.
    pub platform: Option<String>,
    /// The machine it is on.
    pub architecture: Option<String>,
}

/// What is needed to register a runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRunner {
    /// See [`Runner::description`].
    pub description: String,
    /// See [`Runner::shared`].
    pub shared: bool,
    /// See [`Runner::run_untagged`].
    pub run_untagged: bool,
    /// See [`Runner::locked`].
    pub locked: bool,
    /// See [`Runner::tags`].
    pub tags: Tags,
    /// See [`Runner::info`].
    pub info: RunnerInfo,
    /// The moment of registration.
    pub at: Timestamp,
}
