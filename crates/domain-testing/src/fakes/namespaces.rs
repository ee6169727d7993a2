//! Fake of the namespaces.

use chrono::NaiveDate;

use super::search::{any_contains, equals_ignoring_case};
use super::tx::FakeTx;
use hexforge_domain::Timestamp;
use hexforge_domain::id::{NamespaceId, UserId};
use hexforge_domain::member::is_in_force;
use hexforge_domain::namespace::port::Namespaces;
use hexforge_domain::namespace::{Namespace, NamespacePath};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::visibility::Visibility;

impl FakeTx {
    /// Returns the oldest namespace that matches a predicate.
    fn find_oldest(&self, matches: impl Fn(&Namespace) -> bool) -> Option<Namespace> {
        self.tables.namespaces.iter().find(|namespace| matches(namespace)).cloned()
    }
}

impl Namespaces for FakeTx {
    fn find(&mut self, id: NamespaceId) -> Result<Option<Namespace>, StoreError> {
        Ok(self.find_oldest(|namespace| namespace.id == id))
    }

    fn find_all(&mut self, ids: &[NamespaceId]) -> Result<Vec<Namespace>, StoreError> {
        let all = self.tables.namespaces.iter();
        Ok(all.filter(|namespace| ids.contains(&namespace.id)).cloned().collect())
    }

    fn find_by_path(&mut self, path: &NamespacePath) -> Result<Option<Namespace>, StoreError> {
        Ok(self.find_oldest(|namespace| namespace.path.folded() == path.folded()))
    }

    fn find_by_name(&mut self, name: &str) -> Result<Option<Namespace>, StoreError> {
        Ok(self.find_oldest(|namespace| namespace.name == name))
    }

    fn find_target(&mut self, named: &str) -> Result<Option<Namespace>, StoreError> {
        let digits = !named.is_empty() && named.bytes().all(|b| b.is_ascii_digit());
        let id = if digits { named.parse().ok().map(NamespaceId) } else { None };
        let by_id = self.find_oldest(|namespace| Some(namespace.id) == id);
        let by_path =
            || self.find_oldest(|namespace| equals_ignoring_case(namespace.path.as_str(), named));
        let by_name = || self.find_oldest(|namespace| equals_ignoring_case(&namespace.name, named));
        Ok(by_id.or_else(by_path).or_else(by_name))
    }

    fn personal(&mut self, owner: UserId) -> Result<Option<Namespace>, StoreError> {
        Ok(self.find_oldest(|namespace| namespace.owner == Some(owner)))
    }

    fn list(
        &mut self,
        of: Option<(UserId, NaiveDate)>,
        search: Option<&str>,
        page: Page,
    ) -> Result<Paged<Namespace>, StoreError> {
        let members = &self.tables.group_members;
        let belongs = |namespace: &Namespace, user: UserId, today: NaiveDate| {
            namespace.owner == Some(user)
                || members.iter().any(|(group, member)| {
                    *group == namespace.id
                        && member.user == user
                        && is_in_force(member.expires_at, today)
                })
        };
        let highest_first = self.tables.namespaces.iter().rev();
        let fitting = highest_first
            .filter(|namespace| of.is_none_or(|(user, today)| belongs(namespace, user, today)))
            .filter(|n| search.is_none_or(|text| any_contains(text, &[&n.name, n.path.as_str()])));
        Ok(page.slice(fitting.cloned().collect()))
    }

    fn insert_personal(
        &mut self,
        owner: UserId,
        path: &NamespacePath,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.require_user(owner)?;
        if self.find_by_path(path)?.is_some() {
            return self.refuse(StoreError::Duplicate("path"));
        }
        let namespace = Namespace {
            id: NamespaceId(self.next_id()),
            path: path.clone(),
            name: path.as_str().to_owned(),
            owner: Some(owner),
            description: String::new(),
            visibility: Visibility::Public,
            lfs_enabled: None,
            request_access_enabled: false,
            share_with_group_lock: false,
            avatar: None,
            created_at: at,
            updated_at: at,
        };
        self.tables.namespaces.push(namespace);
        Ok(())
    }

    fn rename_personal(
        &mut self,
        owner: UserId,
        path: &NamespacePath,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        if self.find_by_path(path)?.is_some_and(|found| found.owner != Some(owner)) {
            return self.refuse(StoreError::Duplicate("path"));
        }
        let mut all = self.tables.namespaces.iter_mut();
        if let Some(namespace) = all.find(|namespace| namespace.owner == Some(owner)) {
            namespace.path = path.clone();
            namespace.name = path.as_str().to_owned();
            namespace.updated_at = at;
        }
        Ok(())
    }
}
