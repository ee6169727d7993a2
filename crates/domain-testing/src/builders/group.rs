//! Builders of groups and memberships.

use super::{a_moment, a_text};
use hexforge_domain::Timestamp;
use hexforge_domain::group::{GroupName, NewGroup};
use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::member::{AccessLevel, Membership};
use hexforge_domain::namespace::{Namespace, NamespacePath};
use hexforge_domain::ports::store::{Store, StoreError, Tx};
use hexforge_domain::visibility::Visibility;

/// A public group with this path and name, without members.
pub fn a_group(path: &str) -> GroupBuilder {
    let new = NewGroup {
        path: NamespacePath::parse(path).expect("tests use valid paths"),
        name: GroupName::parse(path).expect("a valid path is a valid name"),
        description: a_text(""),
        visibility: Visibility::Public,
        lfs_enabled: None,
        request_access_enabled: false,
        at: a_moment(),
    };
    GroupBuilder { new, members: Vec::new() }
}

/// Builds a [`NewGroup`] and its members; see [`a_group`].
#[derive(Clone, Debug)]
pub struct GroupBuilder {
    new: NewGroup,
    members: Vec<Membership>,
}

impl GroupBuilder {
    /// Sets the display name.
    pub fn named(mut self, name: &str) -> Self {
        self.new.name = GroupName::parse(name).expect("tests use valid names");
        self
    }

    /// Sets the description.
    pub fn described(mut self, description: &str) -> Self {
        self.new.description = a_text(description);
        self
    }

    /// Sets the visibility level.
    pub fn visibility(mut self, visibility: Visibility) -> Self {
        self.new.visibility = visibility;
        self
    }

    /// Makes the group private.
    pub fn private(self) -> Self {
        self.visibility(Visibility::Private)
    }

    /// Makes the group internal.
    pub fn internal(self) -> Self {
        self.visibility(Visibility::Internal)
    }

    /// Sets the creation time.
    pub fn at(mut self, moment: Timestamp) -> Self {
        self.new.at = moment;
        self
    }

    /// Adds a member.
    pub fn member(mut self, user: UserId, level: AccessLevel) -> Self {
        self.members.push(a_member(user, level));
        self
    }

    /// Adds an owner.
    pub fn owner(self, user: UserId) -> Self {
        self.member(user, AccessLevel::Owner)
    }

    /// Returns the input for the group, without its members.
    pub fn build(self) -> NewGroup {
        self.new
    }

    /// Stores the group and its members.
    /// # Errors
    /// See [`Groups::insert`](hexforge_domain::group::port::Groups::insert).
    pub fn insert(self, tx: &mut dyn Tx) -> Result<Namespace, StoreError> {
        let group = tx.groups().insert(self.new)?;
        for member in self.members {
            tx.group_members().insert(group.id, member)?;
        }
        Ok(group)
    }

    /// Stores the group and its members in a transaction of its own.
    pub fn stored_in(self, store: &dyn Store) -> Namespace {
        let stored: Result<Namespace, StoreError> = store.write(|tx| self.insert(tx));
        stored.expect("paths and names of a test's groups differ")
    }
}

/// A membership that does not expire.
pub fn a_member(user: UserId, level: AccessLevel) -> Membership {
    Membership::new(user, level, None)
}

/// Adds a member to a group in a transaction of its own.
pub fn join_group(store: &dyn Store, group: NamespaceId, member: Membership) {
    let joined: Result<(), StoreError> = store.write(|tx| tx.group_members().insert(group, member));
    joined.expect("nobody joins a test's group twice");
}

/// Adds a member to a project in a transaction of its own.
pub fn join_project(store: &dyn Store, project: ProjectId, member: Membership) {
    let joined: Result<(), StoreError> =
        store.write(|tx| tx.project_members().insert(project, member));
    joined.expect("nobody joins a test's project twice");
}
