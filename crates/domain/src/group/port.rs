//! The port to the stored groups.

use chrono::NaiveDate;

use super::{GroupFilter, GroupRef, NewGroup};
use crate::id::{NamespaceId, UserId};
use crate::member::AccessLevel;
use crate::namespace::Namespace;
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;
use crate::visibility::Visibility;

/// All groups. Only groups are found here, never a user's namespace.
pub trait Groups {
    /// The group of exactly that path, else of that id.
    fn find(&mut self, named: &GroupRef) -> Result<Option<Namespace>, StoreError>;

    /// The group of that id; until the transaction ends nobody else changes, locks or removes it, or
    /// makes a project in it.
    fn lock(&mut self, id: NamespaceId) -> Result<Option<Namespace>, StoreError>;

    /// Locks a group, all projects in it and their forks until the transaction ends, which is about to
    /// [`delete`](Self::delete) the group.
    fn lock_to_delete(&mut self, id: NamespaceId) -> Result<(), StoreError>;

    /// Keeps a group from being removed until the transaction ends. Comes before the lock of a project that is to be
    /// shared with the group: its removal locks the group first and then projects.
    fn keep(&mut self, id: NamespaceId) -> Result<(), StoreError>;

    /// Groups that fit the filter.
    fn list(
        &mut self,
        filter: &GroupFilter,
        today: NaiveDate,
        page: Page,
    ) -> Result<Paged<Namespace>, StoreError>;

    /// Groups of which a user is an owner, highest id first.
    fn owned_by(
        &mut self,
        user: UserId,
        today: NaiveDate,
        page: Page,
    ) -> Result<Paged<Namespace>, StoreError>;

    /// The level of a user's membership in a group, if it is in force.
    fn level(
        &mut self,
        group: NamespaceId,
        user: UserId,
        today: NaiveDate,
    ) -> Result<Option<AccessLevel>, StoreError>;

    /// The highest visibility among the projects in a group.
    fn highest_visibility_inside(
        &mut self,
        group: NamespaceId,
    ) -> Result<Option<Visibility>, StoreError>;

    /// Makes a group without members.
    /// # Errors
    /// [`StoreError::Duplicate`]`("path")` when a user or group has the path, ignoring case;
    /// [`StoreError::Duplicate`]`("name")` when a group has exactly that name.
    fn insert(&mut self, new: NewGroup) -> Result<Namespace, StoreError>;

    /// Stores every field of a group. Projects inside are found by the new path and name at once.
    /// # Errors
    /// See [`insert`](Self::insert).
    fn update(&mut self, group: &Namespace) -> Result<(), StoreError>;

    /// Removes a group with its memberships, its shares and everything inside.
    fn delete(&mut self, group: NamespaceId) -> Result<(), StoreError>;
}
