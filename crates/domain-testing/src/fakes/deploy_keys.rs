//! Fake of the deploy keys.

use super::tx::FakeTx;
use chrono::NaiveDate;
use hexforge_domain::Timestamp;
use hexforge_domain::deploy_key::DeployKey;
use hexforge_domain::deploy_key::port::DeployKeys;
use hexforge_domain::id::{KeyId, ProjectId, UserId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::user::key::{Fingerprint, NewSshKey};

impl FakeTx {
    /// Returns an error if a user or a project has a key with this fingerprint.
    pub fn require_new_fingerprint(&mut self, of: &Fingerprint) -> Result<(), StoreError> {
        let of_users = self.tables.keys.iter().map(|key| &key.fingerprint);
        let mut all = of_users.chain(self.tables.deploy_keys.iter().map(|key| &key.fingerprint));
        if all.any(|fingerprint| fingerprint == of) {
            return self.refuse(StoreError::Duplicate("fingerprint"));
        }
        Ok(())
    }
}

impl DeployKeys for FakeTx {
    fn all(&mut self, page: Page) -> Result<Paged<DeployKey>, StoreError> {
        Ok(page.slice(self.tables.deploy_keys.iter().rev().cloned().collect()))
    }

    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<DeployKey>, StoreError> {
        let tables = &self.tables;
        let newest_first = tables.deploy_keys.iter().rev();
        let of_project =
            newest_first.filter(|key| tables.project_deploy_keys.contains(&(project, key.id)));
        Ok(page.slice(of_project.cloned().collect()))
    }

    fn find(&mut self, project: ProjectId, id: KeyId) -> Result<Option<DeployKey>, StoreError> {
        let found = DeployKeys::find_by_id(self, id)?;
        Ok(found.filter(|key| self.tables.project_deploy_keys.contains(&(project, key.id))))
    }

    fn find_by_id(&mut self, id: KeyId) -> Result<Option<DeployKey>, StoreError> {
        Ok(self.tables.deploy_keys.iter().find(|key| key.id == id).cloned())
    }

    fn find_by_fingerprint(&mut self, of: &Fingerprint) -> Result<Option<DeployKey>, StoreError> {
        Ok(self.tables.deploy_keys.iter().find(|key| key.fingerprint == *of).cloned())
    }

    fn is_reachable(
        &mut self,
        id: KeyId,
        user: UserId,
        today: NaiveDate,
    ) -> Result<bool, StoreError> {
        let tables = &self.tables;
        let mut holders = tables.project_deploy_keys.iter().filter(|(_, key)| *key == id);
        Ok(holders.any(|(project, _)| {
            let project = tables.projects.get(project);
            project.is_some_and(|project| tables.is_authorized(project, user, today))
        }))
    }

    fn insert(&mut self, new: NewSshKey, at: Timestamp) -> Result<DeployKey, StoreError> {
        self.require_new_fingerprint(&new.fingerprint)?;
        let key = DeployKey {
            id: KeyId(self.next_id()),
            title: new.title,
            key: new.key,
            fingerprint: new.fingerprint,
            created_at: at,
        };
        self.tables.deploy_keys.push(key.clone());
        Ok(key)
    }

    fn attach(&mut self, id: KeyId, project: ProjectId) -> Result<(), StoreError> {
        self.require_project(project)?;
        if DeployKeys::find_by_id(self, id)?.is_none() {
            return self.refuse(StoreError::Gone);
        }
        self.tables.project_deploy_keys.insert((project, id));
        Ok(())
    }

    fn detach(&mut self, id: KeyId, project: ProjectId) -> Result<bool, StoreError> {
        let was_attached = self.tables.project_deploy_keys.remove(&(project, id));
        let is_unused = !self.tables.project_deploy_keys.iter().any(|(_, key)| *key == id);
        if was_attached && is_unused {
            self.tables.deploy_keys.retain(|key| key.id != id);
        }
        Ok(was_attached && is_unused)
    }
}
