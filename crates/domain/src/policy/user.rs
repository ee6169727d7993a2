//! The rules for accounts. They are the same for all accounts, so no facts are needed.

use super::{Actor, Protected};
use crate::user::User;

/// Returns whether a user may create groups.
pub fn may_create_groups(user: &User) -> bool {
    user.privileges.can_create_group && user.state.may_act()
}

/// All accounts of the service.
pub struct Accounts;

/// The operations on accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountAbility {
    /// See the page of a user: the name, the profile, and what else the actor may see anyway.
    SeePage,
    /// List users and read their public data.
    Read,
    /// Read and change the actor's own data: keys, e-mail addresses, the full record.
    UseOwn,
    /// Read all data of all users; create, change, block and delete users.
    Manage,
}

impl Protected for Accounts {
    type Ability = AccountAbility;
    const READ: AccountAbility = AccountAbility::Read;

    fn allows(&self, actor: Actor, ability: AccountAbility) -> bool {
        match (ability, actor) {
            (
                AccountAbility::SeePage,
                Actor::Anonymous | Actor::User { .. } | Actor::Admin { .. },
            ) => true,
            (
                AccountAbility::Read | AccountAbility::UseOwn | AccountAbility::Manage,
                Actor::Anonymous,
            ) => false,
            (
                AccountAbility::Read | AccountAbility::UseOwn,
                Actor::User { .. } | Actor::Admin { .. },
            ) => true,
            (AccountAbility::Manage, Actor::User { .. }) => false,
            (AccountAbility::Manage, Actor::Admin { .. }) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Denied, authorize};
    use super::*;
    use crate::id::UserId;

    #[test]
    fn the_whole_matrix_of_accounts() {
        use AccountAbility::*;
        use Denied::*;
        let anonymous = Actor::Anonymous;
        let user = Actor::User { id: UserId(2), external: false };
        let external = Actor::User { id: UserId(3), external: true };
        let admin = Actor::Admin { id: UserId(1) };
        for (actor, ability, expected) in [
            (anonymous, SeePage, Ok(())),
            (user, SeePage, Ok(())),
            (external, SeePage, Ok(())),
            (admin, SeePage, Ok(())),
            (anonymous, Read, Err(Unauthenticated)),
            (anonymous, UseOwn, Err(Unauthenticated)),
            (anonymous, Manage, Err(Unauthenticated)),
            (user, Read, Ok(())),
            (user, UseOwn, Ok(())),
            (user, Manage, Err(Forbidden)),
            (external, Read, Ok(())),
            (external, UseOwn, Ok(())),
            (external, Manage, Err(Forbidden)),
            (admin, Read, Ok(())),
            (admin, UseOwn, Ok(())),
            (admin, Manage, Ok(())),
        ] {
            assert_eq!(authorize(actor, ability, &Accounts), expected, "{actor:?} {ability:?}");
        }
    }
}
