//! The rules about groups.

use super::{Actor, Protected};
use crate::member::AccessLevel;
use crate::visibility::Visibility;

/// The facts about a group and the actor for decisions about the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupFacts {
    /// The visibility level of the group.
    pub visibility: Visibility,
    /// The access level of the actor's membership, if it has not expired.
    pub level: Option<AccessLevel>,
    /// Whether the actor may see a project of the group or a project shared with it.
    pub sees_a_project: bool,
}

/// The operations on a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupAbility {
    /// See the group, its members and those of its projects that the actor may see.
    Read,
    /// See all of its projects.
    ReadAllProjects,
    /// Create projects in it, and manage its labels.
    CreateProjects,
    /// Change it, its members and its visibility; remove it.
    Administer,
}

impl Protected for GroupFacts {
    type Ability = GroupAbility;
    const READ: GroupAbility = GroupAbility::Read;

    fn allows(&self, actor: Actor, ability: GroupAbility) -> bool {
        match (ability, actor) {
            (
                GroupAbility::Read
                | GroupAbility::ReadAllProjects
                | GroupAbility::CreateProjects
                | GroupAbility::Administer,
                Actor::Admin { .. },
            ) => true,
            (GroupAbility::Read, Actor::User { external, .. }) => {
                self.level.is_some() || self.sees_a_project || self.open_to(external)
            }
            (GroupAbility::ReadAllProjects, Actor::User { .. }) => self.level.is_some(),
            (GroupAbility::CreateProjects, Actor::User { .. }) => {
                self.level >= Some(AccessLevel::Master)
            }
            (GroupAbility::Administer, Actor::User { .. }) => {
                self.level == Some(AccessLevel::Owner)
            }
            (GroupAbility::Read, Actor::Anonymous) => self.visibility == Visibility::Public,
            (
                GroupAbility::ReadAllProjects
                | GroupAbility::CreateProjects
                | GroupAbility::Administer,
                Actor::Anonymous,
            ) => false,
        }
    }
}

impl GroupFacts {
    fn open_to(&self, external: bool) -> bool {
        match self.visibility {
            Visibility::Public => true,
            Visibility::Internal => !external,
            Visibility::Private => false,
        }
    }
}

#[cfg(test)]
mod matrix;
