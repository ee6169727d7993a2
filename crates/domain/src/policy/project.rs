//! The rules about projects.

use super::{Actor, Protected};
use crate::member::AccessLevel;
use crate::project::Archived;
use crate::visibility::Visibility;

/// The facts about a project and the actor for decisions about the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProjectFacts {
    /// The visibility level of the project.
    pub visibility: Visibility,
    /// The actor's access level and ownership.
    pub role: ProjectRole,
    /// Whether the project is archived.
    pub archived: Archived,
}

/// The rights of a user in a project: the combination of all memberships and of ownership.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProjectRole {
    /// The highest access level from memberships in the project, in its group and in groups with which it is shared. A
    /// share limits the level to its own.
    pub level: Option<AccessLevel>,
    /// Whether the project is in the user's namespace or in a group that the user owns.
    pub owner: bool,
}

/// The operations on a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectAbility {
    /// See it, its members and its activity.
    Read,
    /// Star it and unstar it.
    Star,
    /// Upload a file for use in issues and comments.
    Upload,
    /// Clone it, read its repository, fork it.
    DownloadCode,
    /// Push to it; create and delete branches, tags and releases.
    PushCode,
    /// Read objects that are no longer reachable from any ref of its repository.
    ReadUnreachable,
    /// Edit it, its hooks, members, shares and protected branches.
    Administer,
    /// Rename it, change its visibility, archive and delete it.
    Own,
}

impl ProjectAbility {
    /// All abilities.
    pub const ALL: [ProjectAbility; 8] = [
        ProjectAbility::Read,
        ProjectAbility::Star,
        ProjectAbility::Upload,
        ProjectAbility::DownloadCode,
        ProjectAbility::PushCode,
        ProjectAbility::ReadUnreachable,
        ProjectAbility::Administer,
        ProjectAbility::Own,
    ];
}

impl Protected for ProjectFacts {
    type Ability = ProjectAbility;
    const READ: ProjectAbility = ProjectAbility::Read;

    fn allows(&self, actor: Actor, ability: ProjectAbility) -> bool {
        match ability {
            ProjectAbility::Read => self.open_to(actor) || self.is_team(actor, AccessLevel::Guest),
            ProjectAbility::Star | ProjectAbility::Upload => {
                actor != Actor::Anonymous
                    && (self.open_to(actor) || self.is_team(actor, AccessLevel::Guest))
            }
            // A guest of a private project may see the project but not its code.
            ProjectAbility::DownloadCode => {
                self.open_to(actor) || self.is_team(actor, AccessLevel::Reporter)
            }
            // Nobody may push to an archived project, administrators included.
            ProjectAbility::PushCode => match self.archived {
                Archived::No => self.is_team(actor, AccessLevel::Developer),
                Archived::Yes => false,
            },
            ProjectAbility::ReadUnreachable | ProjectAbility::Administer => {
                self.is_team(actor, AccessLevel::Master)
            }
            ProjectAbility::Own => self.is_owner(actor),
        }
    }
}

impl ProjectFacts {
    /// Returns whether the visibility level alone gives the actor access.
    pub(super) fn open_to(&self, actor: Actor) -> bool {
        match (self.visibility, actor) {
            (Visibility::Public, Actor::Anonymous | Actor::User { .. } | Actor::Admin { .. }) => {
                true
            }
            (Visibility::Internal, Actor::User { external, .. }) => !external,
            (Visibility::Internal | Visibility::Private, Actor::Admin { .. }) => true,
            (Visibility::Private, Actor::User { .. }) => false,
            (Visibility::Internal | Visibility::Private, Actor::Anonymous) => false,
        }
    }

    /// Returns whether the actor has at least this access level. Owners and administrators always do.
    pub(super) fn is_team(&self, actor: Actor, least: AccessLevel) -> bool {
        match actor {
            Actor::Admin { .. } => true,
            Actor::User { .. } => self.role.owner || self.role.level >= Some(least),
            Actor::Anonymous => false,
        }
    }

    /// Returns whether the actor owns the project. Administrators always do.
    pub(super) fn is_owner(&self, actor: Actor) -> bool {
        match actor {
            Actor::Admin { .. } => true,
            Actor::User { .. } => self.role.owner,
            Actor::Anonymous => false,
        }
    }
}

#[cfg(test)]
mod matrix;
