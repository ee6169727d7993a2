//! The rules about the pipelines and builds of a project.

use super::project::ProjectFacts;
use super::{Actor, Protected};
use crate::member::AccessLevel;

/// The facts for decisions about the pipelines and builds of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CiFacts {
    /// The facts about the project and the actor.
    pub project: ProjectFacts,
    /// Whether builds are enabled in the project.
    pub builds: bool,
    /// Whether everyone who may see the code may also see the builds.
    pub public_builds: bool,
}

/// The operations on the pipelines and builds of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CiAbility {
    /// See the project and its list of builds.
    SeeProject,
    /// See its pipelines.
    ReadPipelines,
    /// See its builds, with logs and artifacts.
    ReadBuilds,
    /// See the statuses of its commits.
    ReadStatuses,
    /// See its environments and deployments.
    ReadEnvironments,
    /// Start, retry and cancel pipelines and builds, and create environments.
    Run,
    /// Set statuses of its commits.
    PostStatuses,
    /// See and change its triggers and variables, and change its environments.
    Administer,
}

impl CiAbility {
    /// All abilities.
    pub const ALL: [CiAbility; 8] = [
        Self::SeeProject,
        Self::ReadPipelines,
        Self::ReadBuilds,
        Self::ReadStatuses,
        Self::ReadEnvironments,
        Self::Run,
        Self::PostStatuses,
        Self::Administer,
    ];
}

impl CiFacts {
    /// Returns whether the badges of the project show the actor the state of its pipelines. Unlike the pipelines, the
    /// badges of a public project are for everybody: other sites show them as pictures.
    pub fn shows_badges(&self, actor: Actor) -> bool {
        let is_open = self.project.open_to(actor) && self.public_builds;
        self.builds && (is_open || self.project.is_team(actor, AccessLevel::Reporter))
    }
}

impl Protected for CiFacts {
    type Ability = CiAbility;
    const READ: CiAbility = CiAbility::SeeProject;

    fn allows(&self, actor: Actor, ability: CiAbility) -> bool {
        // Anonymous callers have no access to this area, not even in public projects.
        let open = actor != Actor::Anonymous && self.project.open_to(actor);
        let team = |least| self.project.is_team(actor, least);
        match ability {
            CiAbility::SeeProject => open || team(AccessLevel::Guest),
            CiAbility::ReadPipelines => self.builds && (open || team(AccessLevel::Reporter)),
            CiAbility::ReadBuilds => {
                self.builds && ((open && self.public_builds) || team(AccessLevel::Reporter))
            }
            CiAbility::ReadStatuses => open || team(AccessLevel::Reporter),
            CiAbility::ReadEnvironments => self.builds && team(AccessLevel::Reporter),
            CiAbility::Run => self.builds && team(AccessLevel::Developer),
            CiAbility::PostStatuses => team(AccessLevel::Developer),
            CiAbility::Administer => self.builds && team(AccessLevel::Master),
        }
    }
}

#[cfg(test)]
mod matrix;
