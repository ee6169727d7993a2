//! Fake of the memberships.

use super::search::any_contains;
use super::tx::{FakeTx, Tables};
use chrono::NaiveDate;
use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::issue::mention::ALL_MEMBERS;
use hexforge_domain::member::port::{GroupMembers, ProjectMembers};
use hexforge_domain::member::{AccessLevel, Membership, is_in_force};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::project::ProjectRole;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::user::User;

impl Tables {
    /// Returns a page of the members that match the query, highest user id first.
    fn page_of(
        &self,
        members: impl Iterator<Item = Membership>,
        query: Option<&str>,
        page: Page,
    ) -> Paged<(User, Membership)> {
        let users = members.filter_map(|member| {
            let user = &self.users.get(&member.user)?.user;
            let fields = [user.name.as_str(), user.email.as_str(), user.username.as_str()];
            let fits = query.is_none_or(|text| any_contains(text, &fields));
            fits.then(|| (user.clone(), member))
        });
        let mut users: Vec<_> = users.collect();
        users.sort_by_key(|(user, _)| std::cmp::Reverse(user.id));
        page.slice(users)
    }

    /// All group owners whose memberships are in force.
    fn owners(&self, today: NaiveDate) -> impl Iterator<Item = (NamespaceId, UserId)> {
        (self.group_members.iter())
            .filter(|(_, member)| member.level == AccessLevel::Owner)
            .filter(move |(_, member)| is_in_force(member.expires_at, today))
            .map(|(group, member)| (*group, member.user))
    }
}

fn find<K: PartialEq>(rows: &[(K, Membership)], of: K, user: UserId) -> Option<Membership> {
    rows.iter().find(|(key, member)| *key == of && member.user == user).map(|(_, member)| *member)
}

fn of_user<K: Ord + Copy>(
    rows: &[(K, Membership)],
    user: UserId,
    keys: &[K],
) -> Vec<(K, Membership)> {
    let of_user = rows.iter().filter(|(key, row)| row.user == user && keys.contains(key));
    let mut found: Vec<_> = of_user.copied().collect();
    found.sort_by_key(|(key, _)| *key);
    found
}

fn all_of_user<K: Ord + Copy>(rows: &[(K, Membership)], user: UserId) -> Vec<(K, Membership)> {
    let mut found: Vec<_> = rows.iter().filter(|(_, row)| row.user == user).copied().collect();
    found.sort_by_key(|(key, _)| *key);
    found
}

fn expired<K: Ord + Copy>(
    rows: &[(K, Membership)],
    today: NaiveDate,
    limit: u32,
) -> Vec<(K, Membership)> {
    let expired = rows.iter().filter(|(_, row)| !is_in_force(row.expires_at, today));
    let mut found: Vec<_> = expired.copied().collect();
    found.sort_by_key(|(key, row)| (row.expires_at, *key, row.user));
    found.truncate(limit as usize);
    found
}

fn update<K: PartialEq>(rows: &mut [(K, Membership)], of: K, member: Membership) {
    let mut rows = rows.iter_mut();
    if let Some((_, row)) = rows.find(|(key, row)| *key == of && row.user == member.user) {
        *row = member;
    }
}

impl GroupMembers for FakeTx {
    fn list(
        &mut self,
        group: NamespaceId,
        query: Option<&str>,
        page: Page,
    ) -> Result<Paged<(User, Membership)>, StoreError> {
        let rows = self.tables.group_members.iter().filter(|(key, _)| *key == group);
        Ok(self.tables.page_of(rows.map(|(_, member)| *member), query, page))
    }

    fn find(&mut self, group: NamespaceId, user: UserId) -> Result<Option<Membership>, StoreError> {
        Ok(find(&self.tables.group_members, group, user))
    }

    fn of_user(
        &mut self,
        user: UserId,
        groups: &[NamespaceId],
    ) -> Result<Vec<(NamespaceId, Membership)>, StoreError> {
        Ok(of_user(&self.tables.group_members, user, groups))
    }

    fn all_of_user(&mut self, user: UserId) -> Result<Vec<(NamespaceId, Membership)>, StoreError> {
        Ok(all_of_user(&self.tables.group_members, user))
    }

    fn expired(
        &mut self,
        today: NaiveDate,
        limit: u32,
    ) -> Result<Vec<(NamespaceId, Membership)>, StoreError> {
        Ok(expired(&self.tables.group_members, today, limit))
    }

    fn solely_owned_by(
        &mut self,
        user: UserId,
        today: NaiveDate,
    ) -> Result<Vec<NamespaceId>, StoreError> {
        let owned = self.tables.owners(today).filter(|(_, owner)| *owner == user);
        let alone = owned.map(|(group, _)| group).filter(|group| {
            !self.tables.owners(today).any(|(other, owner)| other == *group && owner != user)
        });
        let mut groups: Vec<NamespaceId> = alone.collect();
        groups.sort();
        Ok(groups)
    }

    fn count_owners(&mut self, group: NamespaceId, today: NaiveDate) -> Result<u64, StoreError> {
        Ok(self.tables.owners(today).filter(|(owned, _)| *owned == group).count() as u64)
    }

    fn insert(&mut self, group: NamespaceId, member: Membership) -> Result<(), StoreError> {
        self.require_user(member.user)?;
        self.require_namespace(group)?;
        if find(&self.tables.group_members, group, member.user).is_some() {
            return self.refuse(StoreError::Duplicate("member"));
        }
        self.tables.group_members.push((group, member));
        Ok(())
    }

    fn update(&mut self, group: NamespaceId, member: Membership) -> Result<(), StoreError> {
        update(&mut self.tables.group_members, group, member);
        Ok(())
    }

    fn delete(&mut self, group: NamespaceId, user: UserId) -> Result<(), StoreError> {
        self.tables.group_members.retain(|(key, row)| *key != group || row.user != user);
        Ok(())
    }
}

impl ProjectMembers for FakeTx {
    fn list(
        &mut self,
        project: ProjectId,
        query: Option<&str>,
        page: Page,
    ) -> Result<Paged<(User, Membership)>, StoreError> {
        let rows = self.tables.project_members.iter().filter(|(key, _)| *key == project);
        Ok(self.tables.page_of(rows.map(|(_, member)| *member), query, page))
    }

    fn find(&mut self, project: ProjectId, user: UserId) -> Result<Option<Membership>, StoreError> {
        Ok(find(&self.tables.project_members, project, user))
    }

    fn of_user(
        &mut self,
        user: UserId,
        projects: &[ProjectId],
    ) -> Result<Vec<(ProjectId, Membership)>, StoreError> {
        Ok(of_user(&self.tables.project_members, user, projects))
    }

    fn all_of_user(&mut self, user: UserId) -> Result<Vec<(ProjectId, Membership)>, StoreError> {
        Ok(all_of_user(&self.tables.project_members, user))
    }

    fn expired(
        &mut self,
        today: NaiveDate,
        limit: u32,
    ) -> Result<Vec<(ProjectId, Membership)>, StoreError> {
        Ok(expired(&self.tables.project_members, today, limit))
    }

    fn team(
        &mut self,
        project: ProjectId,
        query: Option<&str>,
        today: NaiveDate,
        page: Page,
    ) -> Result<Paged<User>, StoreError> {
        let Some(project) = self.tables.projects.get(&project) else {
            return Ok(page.slice(vec![]));
        };
        let users = self.tables.users.values().map(|row| &row.user).rev();
        let team = users.filter(|user| {
            let fields = [user.name.as_str(), user.email.as_str(), user.username.as_str()];
            query.is_none_or(|text| any_contains(text, &fields))
                && self.tables.role(project, user.id, today).level.is_some()
        });
        Ok(page.slice(team.cloned().collect()))
    }

    fn mentioned(
        &mut self,
        project: ProjectId,
        names: &[&str],
        today: NaiveDate,
        limit: u32,
    ) -> Result<Vec<(User, ProjectRole)>, StoreError> {
        let tables = &self.tables;
        let Some(project) = tables.projects.get(&project) else { return Ok(vec![]) };
        let is_named = |path: &str| names.iter().any(|name| name.eq_ignore_ascii_case(path));
        let groups: Vec<NamespaceId> = (tables.namespaces.iter())
            .filter(|namespace| is_named(namespace.path.as_str()))
            .map(|namespace| namespace.id)
            .collect();
        let is_member = |user: UserId| {
            (tables.group_members.iter()).any(|(group, member)| {
                member.user == user
                    && groups.contains(group)
                    && is_in_force(member.expires_at, today)
            })
        };
        let mentioned = tables.users.values().filter_map(|row| {
            let user = &row.user;
            let role = tables.role(project, user.id, today);
            let is_meant = names.contains(&user.username.as_str())
                || is_member(user.id)
                || names.contains(&ALL_MEMBERS) && role.level.is_some();
            is_meant.then(|| (user.clone(), role))
        });
        Ok(mentioned.take(limit as usize).collect())
    }

    fn insert(&mut self, project: ProjectId, member: Membership) -> Result<(), StoreError> {
        self.require_user(member.user)?;
        self.require_project(project)?;
        if find(&self.tables.project_members, project, member.user).is_some() {
            return self.refuse(StoreError::Duplicate("member"));
        }
        self.tables.project_members.push((project, member));
        Ok(())
    }

    fn update(&mut self, project: ProjectId, member: Membership) -> Result<(), StoreError> {
        update(&mut self.tables.project_members, project, member);
        Ok(())
    }

    fn delete(&mut self, project: ProjectId, user: UserId) -> Result<(), StoreError> {
        self.tables.project_members.retain(|(key, row)| *key != project || row.user != user);
        Ok(())
    }
}
