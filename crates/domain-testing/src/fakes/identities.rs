//! Fake of the identities of users at external providers.

use super::tx::FakeTx;
use hexforge_domain::id::UserId;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::user::Identity;
use hexforge_domain::user::port::Identities;

impl Identities for FakeTx {
    fn of_users(&mut self, users: &[UserId]) -> Result<Vec<(UserId, Identity)>, StoreError> {
        let all = self.tables.identities.iter();
        let mut found: Vec<_> = all.filter(|(user, _)| users.contains(user)).cloned().collect();
        // The sort is stable, so the identities of one user stay in insertion order.
        found.sort_by_key(|(user, _)| *user);
        Ok(found)
    }

    fn holder(&mut self, provider: &str, extern_uid: &str) -> Result<Option<UserId>, StoreError> {
        let found = self.tables.identities.iter().find(|(_, identity)| {
            identity.provider.as_str() == provider
                && identity.extern_uid.as_ref().is_some_and(|uid| uid.as_str() == extern_uid)
        });
        Ok(found.map(|(user, _)| *user))
    }

    fn put(&mut self, user: UserId, identity: &Identity) -> Result<(), StoreError> {
        self.require_user(user)?;
        if let Some(extern_uid) = &identity.extern_uid {
            let holder = self.holder(identity.provider.as_str(), extern_uid.as_str())?;
            if holder.is_some_and(|holder| holder != user) {
                return self.refuse(StoreError::Duplicate("extern_uid"));
            }
        }
        let all = &mut self.tables.identities;
        match all.iter_mut().find(|(u, known)| *u == user && known.provider == identity.provider) {
            Some((_, known)) => *known = identity.clone(),
            None => all.push((user, identity.clone())),
        }
        Ok(())
    }
}
