//! The ports to the stored memberships.

use chrono::NaiveDate;

use super::Membership;
use super::request::RequestSource;
use crate::Timestamp;
use crate::id::{NamespaceId, ProjectId, UserId};
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;
use crate::user::User;

/// The members of all groups. Memberships that have expired are still listed and found; what they
/// are worth is decided where rights are.
pub trait GroupMembers {
    /// Members of a group whose name, primary address or username contains `query`, if given,
    /// ignoring case; highest user id first.
    fn list(
        &mut self,
        group: NamespaceId,
        query: Option<&str>,
        page: Page,
    ) -> Result<Paged<(User, Membership)>, StoreError>;

    /// The membership of a user in a group.
    fn find(&mut self, group: NamespaceId, user: UserId) -> Result<Option<Membership>, StoreError>;

    /// The memberships of one user in several groups, by group.
    fn of_user(
        &mut self,
        user: UserId,
        groups: &[NamespaceId],
    ) -> Result<Vec<(NamespaceId, Membership)>, StoreError>;

    /// All memberships of a user, by group.
    fn all_of_user(&mut self, user: UserId) -> Result<Vec<(NamespaceId, Membership)>, StoreError>;

    /// At most so many memberships that are no longer in force on a day: by the day on which they ended, then
    /// by group, then by user.
    fn expired(
        &mut self,
        today: NaiveDate,
        limit: u32,
    ) -> Result<Vec<(NamespaceId, Membership)>, StoreError>;

    /// The groups of which a user is the only owner whose membership is in force, by id.
    fn solely_owned_by(
        &mut self,
        user: UserId,
        today: NaiveDate,
    ) -> Result<Vec<NamespaceId>, StoreError>;

    /// How many owners a group has whose memberships are in force.
    fn count_owners(&mut self, group: NamespaceId, today: NaiveDate) -> Result<u64, StoreError>;

    /// Adds a member.
    /// # Errors
    /// [`StoreError::Duplicate`]`("member")` when the user is one already.
    fn insert(&mut self, group: NamespaceId, member: Membership) -> Result<(), StoreError>;

    /// Changes a membership in place.
    fn update(&mut self, group: NamespaceId, member: Membership) -> Result<(), StoreError>;

    /// Ends a membership.
    fn delete(&mut self, group: NamespaceId, user: UserId) -> Result<(), StoreError>;
}

/// The members of all projects, without those of their groups; see [`GroupMembers`].
pub trait ProjectMembers {
    /// Members of a project; see [`GroupMembers::list`].
    fn list(
        &mut self,
        project: ProjectId,
        query: Option<&str>,
        page: Page,
    ) -> Result<Paged<(User, Membership)>, StoreError>;

    /// The membership of a user in a project.
    fn find(&mut self, project: ProjectId, user: UserId) -> Result<Option<Membership>, StoreError>;

    /// The memberships of one user in several projects, by project.
    fn of_user(
        &mut self,
        user: UserId,
        projects: &[ProjectId],
    ) -> Result<Vec<(ProjectId, Membership)>, StoreError>;

    /// All memberships of a user, by project.
    fn all_of_user(&mut self, user: UserId) -> Result<Vec<(ProjectId, Membership)>, StoreError>;

    /// At most so many memberships that are no longer in force on a day: by the day on which they ended, then
    /// by project, then by user.
    fn expired(
        &mut self,
        today: NaiveDate,
        limit: u32,
    ) -> Result<Vec<(ProjectId, Membership)>, StoreError>;

    /// Everybody whom a membership in force gives a level on a project, each once, highest user id first:
    /// members of the project, of its group, and of groups it is shared with unless the share has expired
    /// or is forbidden. With `query` those of whom it is a part; see [`GroupMembers::list`].
    fn team(
        &mut self,
        project: ProjectId,
        query: Option<&str>,
        today: NaiveDate,
        page: Page,
    ) -> Result<Paged<User>, StoreError>;

    /// Adds a member.
    /// # Errors
    /// [`StoreError::Duplicate`]`("member")` when the user is one already.
    fn insert(&mut self, project: ProjectId, member: Membership) -> Result<(), StoreError>;

    /// Changes a membership in place.
    fn update(&mut self, project: ProjectId, member: Membership) -> Result<(), StoreError>;

    /// Ends a membership.
    fn delete(&mut self, project: ProjectId, user: UserId) -> Result<(), StoreError>;
}

/// Who asks to become a member of what. A request gives no right, and ends with the user, group or project.
pub trait AccessRequests {
    /// Who asks, and since when; highest user id first.
    fn list(
        &mut self,
        source: RequestSource,
        page: Page,
    ) -> Result<Paged<(User, Timestamp)>, StoreError>;

    /// Since when a user asks.
    fn find(
        &mut self,
        source: RequestSource,
        user: UserId,
    ) -> Result<Option<Timestamp>, StoreError>;

    /// Writes a request down.
    /// # Errors
    /// [`StoreError::Duplicate`]`("access request")` when there is one already.
    fn insert(
        &mut self,
        source: RequestSource,
        user: UserId,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Removes a request, if there is one.
    fn delete(&mut self, source: RequestSource, user: UserId) -> Result<(), StoreError>;
}
