//! The groups and projects that have members, and the access that an operation on members needs.

use hexforge_domain::group::GroupRef;
use hexforge_domain::id::UserId;
use hexforge_domain::member::request::RequestSource;
use hexforge_domain::member::{AccessLevel, Membership};
use hexforge_domain::namespace::Namespace;
use hexforge_domain::policy::group::GroupAbility;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::{Project, ProjectRef};

use crate::access::Requester;
use crate::error::{Entity, Error};

/// The group or project whose members are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberSource {
    /// A group.
    Group(GroupRef),
    /// A project.
    Project(ProjectRef),
}

/// A loaded group or project. The permission for the operation was checked.
pub(super) enum Found {
    Group(Namespace),
    Project(Project),
}

/// The operation on the members.
#[derive(Clone, Copy)]
pub(super) enum MemberOperation {
    /// Read the members.
    Read,
    /// Become a member.
    Join,
    /// Read the access requests.
    Review,
    /// Change the members.
    Administer,
}

impl MemberOperation {
    fn abilities(self) -> (GroupAbility, ProjectAbility) {
        match self {
            Self::Read | Self::Join => (GroupAbility::Read, ProjectAbility::Read),
            Self::Review | Self::Administer => {
                (GroupAbility::Administer, ProjectAbility::Administer)
            }
        }
    }

    /// Returns whether the operation locks the group or project, so that its members do not change meanwhile.
    fn locks(self) -> bool {
        match self {
            Self::Read | Self::Review => false,
            Self::Join | Self::Administer => true,
        }
    }
}

impl MemberSource {
    /// Loads the group or project if the actor may do the operation, and locks it if the operation needs that.
    pub(super) fn load(
        &self,
        tx: &mut dyn Tx,
        requester: Requester,
        operation: MemberOperation,
    ) -> Result<Found, Error> {
        let (of_group, of_project) = operation.abilities();
        match self {
            Self::Group(named) => {
                let found = requester.group(tx, of_group, named)?;
                if !operation.locks() {
                    return Ok(Found::Group(found));
                }
                let locked = tx.groups().lock(found.id)?.ok_or(Error::NotFound(Entity::Group))?;
                Ok(Found::Group(locked))
            }
            Self::Project(named) if operation.locks() => {
                requester.locked_project(tx, of_project, named).map(Found::Project)
            }
            Self::Project(named) => requester.project(tx, of_project, named).map(Found::Project),
        }
    }

    pub(super) fn parse_level(&self, level: i64) -> Result<AccessLevel, Error> {
        match self {
            Self::Group(_) => AccessLevel::from_level(level),
            Self::Project(_) => AccessLevel::from_project_level(level),
        }
        .ok_or(Error::UnknownAccessLevel)
    }
}

impl Found {
    pub(super) fn member(
        &self,
        tx: &mut dyn Tx,
        user: UserId,
    ) -> Result<Option<Membership>, StoreError> {
        match self {
            Self::Group(group) => tx.group_members().find(group.id, user),
            Self::Project(project) => tx.project_members().find(project.id, user),
        }
    }

    /// Returns the group or project as the source of access requests.
    pub(super) fn request_source(&self) -> RequestSource {
        match self {
            Self::Group(group) => RequestSource::Group(group.id),
            Self::Project(project) => RequestSource::Project(project.id),
        }
    }
}
