//! The rules about projects.

use super::{Actor, Protected};
use crate::member::AccessLevel;
use crate::project::Archived;
use crate::visibility::Visibility;

/// What a decision about a project needs to know of it and the actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProjectFacts {
    /// Who sees the project.
    pub visibility: Visibility,
    /// What the actor is to the project.
    pub standing: Standing,
    /// Whether the project is kept as it is.
    pub archived: Archived,
}

/// What a user is to a project: everything memberships and ownership give, put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The highest of the levels that memberships in the project, in its group and in groups it is
    /// shared with give; those of shares only up to the level of the share.
    pub level: Option<AccessLevel>,
    /// The project is in the user's namespace, or in a group that the user owns.
    pub owner: bool,
}

/// What can be done with a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectAbility {
    /// See it, its members and its activity.
    Read,
    /// Star it and take the star back.
    Star,
    /// Upload a file for its texts.
    Upload,
    /// Clone it, read its repository, fork it.
    DownloadCode,
    /// Push to it, make and remove branches, tags and releases.
    PushCode,
    /// Read what no ref of its repository leads to any more.
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
            // A guest of a private project sees it without its code.
            ProjectAbility::DownloadCode => {
                self.open_to(actor) || self.is_team(actor, AccessLevel::Reporter)
            }
            // What is archived stays as it is, whoever asks.
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
    /// Whether the visibility alone lets the actor in.
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

    /// Whether the actor works on the project with at least this level. Owners and administrators
    /// have everything a master has.
    pub(super) fn is_team(&self, actor: Actor, least: AccessLevel) -> bool {
        match actor {
            Actor::Admin { .. } => true,
            Actor::User { .. } => self.standing.owner || self.standing.level >= Some(least),
            Actor::Anonymous => false,
        }
    }

    /// Whether the actor owns the project.
    pub(super) fn is_owner(&self, actor: Actor) -> bool {
        match actor {
            Actor::Admin { .. } => true,
            Actor::User { .. } => self.standing.owner,
            Actor::Anonymous => false,
        }
    }
}

#[cfg(test)]
mod matrix;
