//! Fake of the networks of sign-ins.

use std::cmp::Reverse;

use super::tx::FakeTx;
use hexforge_domain::Timestamp;
use hexforge_domain::id::UserId;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::sign_in::MAX_NETWORKS;
use hexforge_domain::sign_in::port::SignInAddresses;

impl SignInAddresses for FakeTx {
    fn is_known(
        &mut self,
        user: UserId,
        network: &str,
        since: Timestamp,
    ) -> Result<bool, StoreError> {
        let seen = self.tables.sign_in_addresses.get(&(user, network.to_owned()));
        Ok(seen.is_some_and(|seen| *seen >= since))
    }

    fn remember(
        &mut self,
        user: UserId,
        network: &str,
        at: Timestamp,
        since: Timestamp,
    ) -> Result<(), StoreError> {
        let all = &mut self.tables.sign_in_addresses;
        all.insert((user, network.to_owned()), at);
        let of_user = all.iter().filter(|((owner, _), _)| *owner == user);
        let mut newest: Vec<_> = of_user.map(|((_, name), seen)| (*seen, name.clone())).collect();
        newest.sort_by_key(|(seen, name)| (Reverse(*seen), name.clone()));
        let old = newest.iter().enumerate();
        let old = old.filter(|(place, (seen, _))| *place >= MAX_NETWORKS || *seen < since);
        for (_, (_, name)) in old {
            all.remove(&(user, name.clone()));
        }
        Ok(())
    }
}
