//! Fake of the groups, which are namespaces without an owner.

use super::access::is_open;
use super::search::any_contains;
use super::tx::{FakeTx, Tables};
use chrono::NaiveDate;
use hexforge_domain::group::port::Groups;
use hexforge_domain::group::{GroupFilter, GroupOrder, GroupRef, GroupScope, NewGroup};
use hexforge_domain::id::{NamespaceId, UserId};
use hexforge_domain::member::AccessLevel;
use hexforge_domain::namespace::Namespace;
use hexforge_domain::namespace::port::Namespaces;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::visibility::Visibility;

impl Tables {
    /// All groups, oldest first.
    fn groups(&self) -> impl DoubleEndedIterator<Item = &Namespace> {
        self.namespaces.iter().filter(|namespace| namespace.owner.is_none())
    }

    fn is_in_scope(&self, group: &Namespace, scope: GroupScope, today: NaiveDate) -> bool {
        match scope {
            GroupScope::All => true,
            GroupScope::MemberOf(user) => self.level_in_group(group.id, user, today).is_some(),
            GroupScope::AvailableTo { user, external } => {
                let mut inside = self.projects.values().filter(|p| p.namespace == group.id);
                self.level_in_group(group.id, user, today).is_some()
                    || is_open(group.visibility, external)
                    || inside.any(|project| self.is_authorized(project, user, today))
            }
        }
    }
}

impl FakeTx {
    /// Returns an error if the path or name is already in use.
    fn check_unique(
        &mut self,
        group: Option<NamespaceId>,
        named: &Namespace,
    ) -> Result<(), StoreError> {
        let namesake = Namespaces::find_by_path(self, &named.path)?;
        if namesake.is_some_and(|namesake| Some(namesake.id) != group) {
            return self.refuse(StoreError::Duplicate("path"));
        }
        if self.tables.groups().any(|other| other.name == named.name && Some(other.id) != group) {
            return self.refuse(StoreError::Duplicate("name"));
        }
        Ok(())
    }
}

impl Groups for FakeTx {
    fn find(&mut self, named: &GroupRef) -> Result<Option<Namespace>, StoreError> {
        let by_path = self.tables.groups().find(|group| group.path.as_str() == named.as_path());
        let by_id = || self.tables.groups().find(|group| Some(group.id) == named.as_id());
        Ok(by_path.or_else(by_id).cloned())
    }

    fn lock_to_delete(&mut self, _: NamespaceId) -> Result<(), StoreError> {
        // Write transactions run one at a time, so there is nothing to lock.
        Ok(())
    }

    fn prevent_deletion(&mut self, _: NamespaceId) -> Result<(), StoreError> {
        // Write transactions run one at a time, so there is nothing to lock.
        Ok(())
    }

    fn lock(&mut self, id: NamespaceId) -> Result<Option<Namespace>, StoreError> {
        // Write transactions run one at a time, so there is nothing to lock.
        Ok(self.tables.groups().find(|group| group.id == id).cloned())
    }

    fn list(
        &mut self,
        filter: &GroupFilter,
        today: NaiveDate,
        page: Page,
    ) -> Result<Paged<Namespace>, StoreError> {
        let found =
            |group: &Namespace, text: &str| any_contains(text, &[&group.name, group.path.as_str()]);
        let mut groups: Vec<Namespace> = (self.tables.groups())
            .filter(|group| self.tables.is_in_scope(group, filter.scope, today))
            .filter(|group| !filter.skip.contains(&group.id))
            .filter(|group| filter.search.as_deref().is_none_or(|text| found(group, text)))
            .cloned()
            .collect();
        match filter.order {
            GroupOrder::Name => groups.sort_by(|a, b| (&a.name, a.id).cmp(&(&b.name, b.id))),
            GroupOrder::Path => groups.sort_by(|a, b| a.path.as_str().cmp(b.path.as_str())),
        }
        if filter.descending {
            groups.reverse();
        }
        Ok(page.slice(groups))
    }

    fn owned_by(
        &mut self,
        user: UserId,
        today: NaiveDate,
        page: Page,
    ) -> Result<Paged<Namespace>, StoreError> {
        let highest_first = self.tables.groups().rev();
        let owned = highest_first.filter(|group| {
            self.tables.level_in_group(group.id, user, today) == Some(AccessLevel::Owner)
        });
        Ok(page.slice(owned.cloned().collect()))
    }

    fn level(
        &mut self,
        group: NamespaceId,
        user: UserId,
        today: NaiveDate,
    ) -> Result<Option<AccessLevel>, StoreError> {
        Ok(self.tables.level_in_group(group, user, today))
    }

    fn highest_visibility_inside(
        &mut self,
        group: NamespaceId,
    ) -> Result<Option<Visibility>, StoreError> {
        let inside = self.tables.projects.values().filter(|project| project.namespace == group);
        Ok(inside.map(|project| project.visibility).max())
    }

    fn insert(&mut self, new: NewGroup) -> Result<Namespace, StoreError> {
        let group = Namespace {
            id: NamespaceId(self.next_id()),
            path: new.path,
            name: new.name.as_str().to_owned(),
            owner: None,
            description: new.description.into_string(),
            visibility: new.visibility,
            lfs_enabled: new.lfs_enabled,
            request_access_enabled: new.request_access_enabled,
            share_with_group_lock: false,
            avatar: None,
            created_at: new.at,
            updated_at: new.at,
        };
        self.check_unique(None, &group)?;
        self.tables.namespaces.push(group.clone());
        Ok(group)
    }

    fn update(&mut self, group: &Namespace) -> Result<(), StoreError> {
        self.check_unique(Some(group.id), group)?;
        let mut all = self.tables.namespaces.iter_mut();
        if let Some(row) = all.find(|row| row.id == group.id && row.owner.is_none()) {
            *row = Namespace { owner: None, ..group.clone() };
        }
        Ok(())
    }

    fn delete(&mut self, group: NamespaceId) -> Result<(), StoreError> {
        if self.tables.groups().any(|found| found.id == group) {
            self.tables.remove_namespace(group);
        }
        Ok(())
    }
}
