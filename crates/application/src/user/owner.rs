//! Whose keys and addresses a call is about.

use hexforge_domain::id::UserId;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::user::AccountAbility;
use hexforge_domain::ports::store::Tx;
use hexforge_domain::user::User;

use crate::access;
use crate::error::{Error, Thing};

/// The account whose keys or addresses are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The actor's own.
    Actor,
    /// Somebody's, which only administrators may touch.
    User(UserId),
}

impl Owner {
    /// Whose account it is, if the actor may use it.
    /// # Errors
    /// Nobody, or no administrator where one is needed.
    pub fn authorize(self, actor: Actor) -> Result<UserId, Error> {
        match self {
            Owner::Actor => access::own_account(actor),
            Owner::User(id) => access::accounts(actor, AccountAbility::Manage).map(|()| id),
        }
    }

    /// The account itself, to read what belongs to it; `thing` is how the interface calls one that is
    /// missing.
    pub(super) fn load(self, tx: &mut dyn Tx, id: UserId, thing: Thing) -> Result<User, Error> {
        let found = tx.users().find(id)?;
        self.must_exist(found, thing)
    }

    /// Like [`load`](Self::load), to change what belongs to it. Whoever changes something that hangs on
    /// an account holds the account first: so changes of one account come one after the other, and
    /// never wait for each other in a circle.
    pub(super) fn lock(self, tx: &mut dyn Tx, id: UserId, thing: Thing) -> Result<User, Error> {
        let found = tx.users().lock(id)?;
        self.must_exist(found, thing)
    }

    fn must_exist(self, found: Option<User>, thing: Thing) -> Result<User, Error> {
        match self {
            // The account was removed after the call was signed in.
            Owner::Actor => found.ok_or(Error::Unauthenticated),
            Owner::User(_) => found.ok_or(Error::NotFound(thing)),
        }
    }
}
