//! Loading and permission in one step: the only way for a use case to get at things.

use hexforge_domain::id::UserId;
use hexforge_domain::policy::user::{AccountAbility, Accounts};
use hexforge_domain::policy::{Actor, authorize};

use crate::error::{Error, Thing};

/// Whether the actor may do this with accounts.
pub fn accounts(actor: Actor, ability: AccountAbility) -> Result<(), Error> {
    authorize(actor, ability, &Accounts).map_err(|denied| Error::denied(denied, Thing::User))
}

/// The user that the actor is, for what users do with their own account.
pub fn own_account(actor: Actor) -> Result<UserId, Error> {
    accounts(actor, AccountAbility::UseOwn)?;
    actor.user().ok_or(Error::Unauthenticated)
}
