//! The owner of the keys and addresses in a request.

use hexforge_domain::id::UserId;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::user::AccountAbility;
use hexforge_domain::ports::store::Tx;
use hexforge_domain::user::User;

use crate::access;
use crate::error::{Entity, Error};

/// The account whose keys or addresses a request concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The actor's own account.
    Actor,
    /// The account of any user; only administrators may use it.
    User(UserId),
}

impl Owner {
    /// Returns the user id of the account if the actor may use it.
    /// # Errors
    /// When the actor is anonymous, or is not an administrator where one is required.
    pub fn authorize(self, actor: Actor) -> Result<UserId, Error> {
        match self {
            Owner::Actor => access::own_account(actor),
            Owner::User(id) => {
                access::require_account_ability(actor, AccountAbility::Manage).map(|()| id)
            }
        }
    }

    /// Loads the account for reading. `thing` selects the error response when the account does not exist.
    pub(super) fn load(self, tx: &mut dyn Tx, id: UserId, thing: Entity) -> Result<User, Error> {
        let found = tx.users().find(id)?;
        self.must_exist(found, thing)
    }

    /// Like [`load`](Self::load), for writing: locks the row of the account. Every change of an account's keys or
    /// addresses locks the account first, so such changes run one after the other and cannot deadlock.
    pub(super) fn lock(self, tx: &mut dyn Tx, id: UserId, thing: Entity) -> Result<User, Error> {
        let found = tx.users().lock(id)?;
        self.must_exist(found, thing)
    }

    fn must_exist(self, found: Option<User>, thing: Entity) -> Result<User, Error> {
        match self {
            // The account was removed after the request was authenticated.
            Owner::Actor => found.ok_or(Error::Unauthenticated),
            Owner::User(_) => found.ok_or(Error::NotFound(thing)),
        }
    }
}
