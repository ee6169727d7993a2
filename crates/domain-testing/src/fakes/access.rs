//! Access of users to projects. The fakes of lists, permissions and event feeds all use these functions.

use super::tx::Tables;
use chrono::NaiveDate;
use hexforge_domain::id::{NamespaceId, UserId};
use hexforge_domain::member::{AccessLevel, is_in_force};
use hexforge_domain::policy::project::ProjectRole;
use hexforge_domain::project::Project;
use hexforge_domain::project::query::Viewer;
use hexforge_domain::project::share::NewShare;
use hexforge_domain::visibility::Visibility;

impl Tables {
    /// Returns the access level of a user in a group if the membership is in force.
    pub fn level_in_group(
        &self,
        group: NamespaceId,
        user: UserId,
        today: NaiveDate,
    ) -> Option<AccessLevel> {
        let mut members = self.group_members.iter();
        let (_, member) = members.find(|(g, member)| *g == group && member.user == user)?;
        is_in_force(member.expires_at, today).then_some(member.level)
    }

    /// See [`ProjectRole`].
    pub fn role(&self, project: &Project, user: UserId, today: NaiveDate) -> ProjectRole {
        let own = (self.project_members.iter())
            .filter(|(p, member)| *p == project.id && member.user == user)
            .filter(|(_, member)| is_in_force(member.expires_at, today))
            .map(|(_, member)| member.level);
        let of_group = self.level_in_group(project.namespace, user, today);
        let of_shares = self.shares_in_force(project, today).filter_map(|share| {
            Some(self.level_in_group(share.group, user, today)?.min(share.access))
        });
        ProjectRole {
            level: own.chain(of_group).chain(of_shares).max(),
            owner: self.is_home_of(project.namespace, user) || of_group == Some(AccessLevel::Owner),
        }
    }

    /// Returns whether a user has access to a project as a member or owner; see
    /// [`ProjectScope`](hexforge_domain::project::query::ProjectScope).
    pub fn is_authorized(&self, project: &Project, user: UserId, today: NaiveDate) -> bool {
        let role = self.role(project, user, today);
        role.owner || role.level.is_some()
    }

    /// Returns whether a viewer may see a project.
    pub fn sees(&self, viewer: Viewer, project: &Project, today: NaiveDate) -> bool {
        is_open(project.visibility, viewer.external)
            || self.is_authorized(project, viewer.user, today)
    }

    /// Returns whether a project is shared with a group by a share in force.
    pub fn is_shared(&self, project: &Project, group: NamespaceId, today: NaiveDate) -> bool {
        self.shares_in_force(project, today).any(|share| share.group == group)
    }

    /// The shares of a project that are in force; none if the namespace forbids sharing.
    fn shares_in_force(
        &self,
        project: &Project,
        today: NaiveDate,
    ) -> impl Iterator<Item = &NewShare> {
        let namespace = self.namespaces.iter().find(|n| n.id == project.namespace);
        let locked = namespace.is_some_and(|namespace| namespace.share_with_group_lock);
        let (id, all) = (project.id, self.shares.iter().map(|(_, share)| share));
        all.filter(move |share| {
            !locked && share.project == id && is_in_force(share.expires_at, today)
        })
    }

    pub fn is_home_of(&self, namespace: NamespaceId, user: UserId) -> bool {
        self.namespaces.iter().any(|n| n.id == namespace && n.owner == Some(user))
    }
}

/// Returns whether the visibility level alone grants access to a signed-in user.
pub(super) fn is_open(visibility: Visibility, external: bool) -> bool {
    match visibility {
        Visibility::Public => true,
        Visibility::Internal => !external,
        Visibility::Private => false,
    }
}
