//! The port to the stored groups.

use chrono::NaiveDate;

use super::{GroupFilter, GroupRef, NewGroup};
use crate::id::{NamespaceId, UserId};
use crate::member::AccessLevel;
use crate::namespace::Namespace;
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;
use crate::visibility::Visibility;

/// All groups. Personal namespaces of users are never found here.
pub trait Groups {
    /// The group with exactly this path, else the group with this id.
    fn find(&mut self, reference: &GroupRef) -> Result<Option<Namespace>, StoreError>;

    /// Locks the group with this id: until the transaction ends, no other transaction can change, lock or delete it, or
    /// create a project in it.
    fn lock(&mut self, id: NamespaceId) -> Result<Option<Namespace>, StoreError>;

    /// Locks a group, all projects in it and their forks before [`delete`](Self::delete), until the transaction ends.
    fn lock_to_delete(&mut self, id: NamespaceId) -> Result<(), StoreError>;

    /// Prevents the deletion of a group until the transaction ends. Call this before locking a project that is to be
    /// shared with the group. A deletion locks the group first and then projects, so the same order avoids deadlocks.
    fn prevent_deletion(&mut self, id: NamespaceId) -> Result<(), StoreError>;

    /// The groups that match the filter.
    fn list(
        &mut self,
        filter: &GroupFilter,
        today: NaiveDate,
        page: Page,
    ) -> Result<Paged<Namespace>, StoreError>;

    /// The groups that a user owns, highest id first.
    fn owned_by(
        &mut self,
        user: UserId,
        today: NaiveDate,
        page: Page,
    ) -> Result<Paged<Namespace>, StoreError>;

    /// The access level of a user's membership in a group, if it has not expired.
    fn level(
        &mut self,
        group: NamespaceId,
        user: UserId,
        today: NaiveDate,
    ) -> Result<Option<AccessLevel>, StoreError>;

    /// The highest visibility level among the projects in a group.
    fn highest_visibility_inside(
        &mut self,
        group: NamespaceId,
    ) -> Result<Option<Visibility>, StoreError>;

    /// Creates a group without members.
    /// # Errors
    /// [`StoreError::Duplicate`]`("path")` when a user or group has the path, ignoring case;
    /// [`StoreError::Duplicate`]`("name")` when a group has exactly this name.
    fn insert(&mut self, new: NewGroup) -> Result<Namespace, StoreError>;

    /// Updates every field of a group. Its projects can be found by the new path and name immediately.
    /// # Errors
    /// See [`insert`](Self::insert).
    fn update(&mut self, group: &Namespace) -> Result<(), StoreError>;

    /// Deletes a group with its memberships, its shares and everything inside it.
    fn delete(&mut self, group: NamespaceId) -> Result<(), StoreError>;
}
