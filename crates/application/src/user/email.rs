//! The secondary e-mail addresses of users.

use hexforge_domain::field_errors::{FieldErrors, FieldProblem};
use hexforge_domain::id::{EmailId, UserId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::user::{Email, EmailAddress};

use super::Owner;
use crate::app::App;
use crate::error::{Entity, Error};

/// Lists the secondary addresses of an account, newest first.
pub fn list(app: &App, actor: Actor, owner: Owner, page: Page) -> Result<Paged<Email>, Error> {
    let user = owner.authorize(actor)?;
    app.store.read(|tx| {
        owner.load(tx, user, Entity::User)?;
        Ok(tx.emails().list(user, page)?)
    })
}

/// Returns one of the actor's own addresses.
pub fn get(app: &App, actor: Actor, id: EmailId) -> Result<Email, Error> {
    let user = Owner::Actor.authorize(actor)?;
    app.store.read(|tx| tx.emails().find(user, id)?.ok_or(Error::NotFound(Entity::Record)))
}

/// Adds an address.
pub fn add(app: &App, actor: Actor, owner: Owner, address: Option<&str>) -> Result<Email, Error> {
    let user = owner.authorize(actor)?;
    let address = address.ok_or(Error::NotGiven("email"))?;
    let parsed = EmailAddress::parse(address).map_err(|error| FieldErrors::single("email", error));
    app.store.write(|tx| {
        owner.lock(tx, user, Entity::Record)?;
        let address = parsed?;
        if tx.emails().holder(&address)?.is_some() {
            return Err(address_taken());
        }
        tx.emails().insert(user, &address).map_err(|error| match error {
            StoreError::Duplicate(_) => address_taken(),
            error => error.into(),
        })
    })
}

fn address_taken() -> Error {
    FieldErrors::single("email", FieldProblem::Taken).into()
}

/// Removes one of the actor's own addresses. Returns `None` when the actor has no address with this id.
pub fn remove_own(app: &App, actor: Actor, id: EmailId) -> Result<Option<Email>, Error> {
    remove(app, actor, Owner::Actor, id)
}

/// Removes an address of another user's account.
pub fn remove_of(app: &App, actor: Actor, user: UserId, id: EmailId) -> Result<Email, Error> {
    remove(app, actor, Owner::User(user), id)?.ok_or(Error::NotFound(Entity::Email))
}

fn remove(app: &App, actor: Actor, owner: Owner, id: EmailId) -> Result<Option<Email>, Error> {
    let user = owner.authorize(actor)?;
    app.store.write(|tx| {
        owner.lock(tx, user, Entity::User)?;
        let Some(email) = tx.emails().find(user, id)? else { return Ok(None) };
        // If the user adds the address again, notifications still go to the primary address.
        tx.notification_settings().forget_address(user, &email.address)?;
        tx.emails().delete(id)?;
        Ok(Some(email))
    })
}
