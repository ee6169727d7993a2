//! Fake of the SSH keys.

use super::tx::FakeTx;
use hexforge_domain::Timestamp;
use hexforge_domain::id::{KeyId, UserId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::user::SshKey;
use hexforge_domain::user::key::{Fingerprint, NewSshKey};
use hexforge_domain::user::port::Keys;

impl Keys for FakeTx {
    fn list(&mut self, user: UserId, page: Page) -> Result<Paged<SshKey>, StoreError> {
        let newest_first = self.tables.keys.iter().rev();
        Ok(page.slice(newest_first.filter(|key| key.user == user).cloned().collect()))
    }

    fn find(&mut self, user: UserId, id: KeyId) -> Result<Option<SshKey>, StoreError> {
        Ok(self.tables.keys.iter().find(|key| key.user == user && key.id == id).cloned())
    }

    fn find_by_id(&mut self, id: KeyId) -> Result<Option<SshKey>, StoreError> {
        Ok(self.tables.keys.iter().find(|key| key.id == id).cloned())
    }

    fn find_by_fingerprint(&mut self, of: &Fingerprint) -> Result<Option<SshKey>, StoreError> {
        Ok(self.tables.keys.iter().find(|key| key.fingerprint == *of).cloned())
    }

    fn insert(
        &mut self,
        user: UserId,
        new: NewSshKey,
        at: Timestamp,
    ) -> Result<SshKey, StoreError> {
        self.require_user(user)?;
        self.require_new_fingerprint(&new.fingerprint)?;
        let key = SshKey {
            id: KeyId(self.next_id()),
            user,
            title: new.title,
            key: new.key,
            fingerprint: new.fingerprint,
            created_at: at,
        };
        self.tables.keys.push(key.clone());
        Ok(key)
    }

    fn delete(&mut self, id: KeyId) -> Result<(), StoreError> {
        self.tables.keys.retain(|key| key.id != id);
        Ok(())
    }
}
