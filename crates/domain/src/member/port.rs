//! The ports to the stored memberships.

use chrono::NaiveDate;

use super::Membership;
use super::request::RequestSource;
use crate::Timestamp;
use crate::id::{NamespaceId, ProjectId, UserId};
use crate::paging::{Page, Paged};
use crate::policy::project::ProjectRole;
use crate::ports::store_error::StoreError;
use crate::user::User;

/// The members of all groups. Expired memberships are still listed and found, but they grant no
/// access.
pub trait GroupMembers {
    /// Returns a page of the members of a group, highest user id first. With `query`, only users
    /// whose name, primary address or username contains it, ignoring case.
    fn list(
        &mut self,
        group: NamespaceId,
        query: Option<&str>,
        page: Page,
    ) -> Result<Paged<(User, Membership)>, StoreError>;

    /// Returns the membership of a user in a group.
    fn find(&mut self, group: NamespaceId, user: UserId) -> Result<Option<Membership>, StoreError>;

    /// Returns the memberships of a user in several groups, ordered by group.
    fn of_user(
        &mut self,
        user: UserId,
        groups: &[NamespaceId],
    ) -> Result<Vec<(NamespaceId, Membership)>, StoreError>;

    /// Returns all memberships of a user, ordered by group.
    fn all_of_user(&mut self, user: UserId) -> Result<Vec<(NamespaceId, Membership)>, StoreError>;

    /// Returns at most `limit` memberships that have expired, ordered by expiry date, then by
    /// group, then by user.
    fn expired(
        &mut self,
        today: NaiveDate,
        limit: u32,
    ) -> Result<Vec<(NamespaceId, Membership)>, StoreError>;

    /// Returns the groups of which a user is the only owner with a membership in force, ordered by
    /// id.
    fn solely_owned_by(
        &mut self,
        user: UserId,
        today: NaiveDate,
    ) -> Result<Vec<NamespaceId>, StoreError>;

    /// Returns the number of owners of a group whose memberships are in force.
    fn count_owners(&mut self, group: NamespaceId, today: NaiveDate) -> Result<u64, StoreError>;

    /// Adds a member.
    /// # Errors
    /// [`StoreError::Duplicate`]`("member")` when the user is already a member.
    fn insert(&mut self, group: NamespaceId, member: Membership) -> Result<(), StoreError>;

    /// Replaces a membership.
    fn update(&mut self, group: NamespaceId, member: Membership) -> Result<(), StoreError>;

    /// Deletes a membership.
    fn delete(&mut self, group: NamespaceId, user: UserId) -> Result<(), StoreError>;
}

/// The direct members of all projects, without the members of their groups; see [`GroupMembers`].
pub trait ProjectMembers {
    /// Returns a page of the members of a project; see [`GroupMembers::list`].
    fn list(
        &mut self,
        project: ProjectId,
        query: Option<&str>,
        page: Page,
    ) -> Result<Paged<(User, Membership)>, StoreError>;

    /// Returns the direct membership of a user in a project.
    fn find(&mut self, project: ProjectId, user: UserId) -> Result<Option<Membership>, StoreError>;

    /// Returns the memberships of a user in several projects, ordered by project.
    fn of_user(
        &mut self,
        user: UserId,
        projects: &[ProjectId],
    ) -> Result<Vec<(ProjectId, Membership)>, StoreError>;

    /// Returns all memberships of a user, ordered by project.
    fn all_of_user(&mut self, user: UserId) -> Result<Vec<(ProjectId, Membership)>, StoreError>;

    /// Returns at most `limit` memberships that have expired, ordered by expiry date, then by
    /// project, then by user.
    fn expired(
        &mut self,
        today: NaiveDate,
        limit: u32,
    ) -> Result<Vec<(ProjectId, Membership)>, StoreError>;

    /// Returns all users with access to a project by a membership in force, each once, highest user
    /// id first: members of the project, of its group, and of groups that the project is shared
    /// with, unless the share has expired or the group of the project forbids sharing. `query`
    /// filters as in [`GroupMembers::list`].
    fn team(
        &mut self,
        project: ProjectId,
        query: Option<&str>,
        today: NaiveDate,
        page: Page,
    ) -> Result<Paged<User>, StoreError>;

    /// Returns at most `limit` users whom these names mention in a text of a project, each once,
    /// lowest user id first, with their rights in the project. A name is a username, case included;
    /// or the path of a group, ignoring case, which means all its members; or
    /// [`ALL_MEMBERS`](crate::issue::mention::ALL_MEMBERS), which means the [team](Self::team). Memberships must be in force. Unknown names are ignored.
    fn mentioned(
        &mut self,
        project: ProjectId,
        names: &[&str],
        today: NaiveDate,
        limit: u32,
    ) -> Result<Vec<(User, ProjectRole)>, StoreError>;

    /// Adds a member.
    /// # Errors
    /// [`StoreError::Duplicate`]`("member")` when the user is already a member.
    fn insert(&mut self, project: ProjectId, member: Membership) -> Result<(), StoreError>;

    /// Replaces a membership.
    fn update(&mut self, project: ProjectId, member: Membership) -> Result<(), StoreError>;

    /// Deletes a membership.
    fn delete(&mut self, project: ProjectId, user: UserId) -> Result<(), StoreError>;
}

/// Requests of users for membership in a group or project. A request grants no access. It is
/// deleted with the user, group or project.
pub trait AccessRequests {
    /// Returns a page of the requesting users with the request times, highest user id first.
    fn list(
        &mut self,
        source: RequestSource,
        page: Page,
    ) -> Result<Paged<(User, Timestamp)>, StoreError>;

    /// Returns the time of the request of a user.
    fn find(
        &mut self,
        source: RequestSource,
        user: UserId,
    ) -> Result<Option<Timestamp>, StoreError>;

    /// Stores a request.
    /// # Errors
    /// [`StoreError::Duplicate`]`("access request")` when the user has already requested access.
    fn insert(
        &mut self,
        source: RequestSource,
        user: UserId,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Deletes a request if it exists.
    fn delete(&mut self, source: RequestSource, user: UserId) -> Result<(), StoreError>;
}
