//! The SSH keys of users.

use hexforge_domain::deploy_key::DeployKey;
use hexforge_domain::field_errors::{FieldErrors, FieldProblem};
use hexforge_domain::id::{KeyId, UserId};
use hexforge_domain::outbox::{KeyFacts, SystemEvent};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::system::ServiceAbility;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::user::SshKey;
use hexforge_domain::user::key::NewSshKey;

use super::Owner;
use crate::access;
use crate::app::App;
use crate::error::{Entity, Error};
use crate::view::user::{self as view, FullUser};

/// The key fields of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyFields {
    pub title: Option<String>,
    pub key: Option<String>,
}

/// Lists the SSH keys of an account, newest first.
pub fn list(app: &App, actor: Actor, owner: Owner, page: Page) -> Result<Paged<SshKey>, Error> {
    let user = owner.authorize(actor)?;
    app.store.read(|tx| {
        owner.load(tx, user, Entity::User)?;
        Ok(tx.keys().list(user, page)?)
    })
}

/// Returns one of the actor's own keys.
pub fn get(app: &App, actor: Actor, id: KeyId) -> Result<SshKey, Error> {
    let user = Owner::Actor.authorize(actor)?;
    app.store.read(|tx| tx.keys().find(user, id)?.ok_or(Error::NotFound(Entity::Record)))
}

/// Registers a key.
pub fn add(app: &App, actor: Actor, owner: Owner, fields: &KeyFields) -> Result<SshKey, Error> {
    let user = owner.authorize(actor)?;
    let title = fields.title.as_deref().ok_or(Error::NotGiven("title"))?;
    let key = fields.key.as_deref().ok_or(Error::NotGiven("key"))?;
    let parsed = NewSshKey::parse(title, key, &*app.public_keys);
    app.store.write(|tx| {
        let owner = owner.lock(tx, user, Entity::Record)?;
        let new = parsed?;
        if tx.keys().find_by_fingerprint(&new.fingerprint)?.is_some() {
            return Err(fingerprint_taken());
        }
        let now = app.clock.now();
        let key = tx.keys().insert(user, new, now).map_err(|error| match error {
            StoreError::Duplicate(_) => fingerprint_taken(),
            error => error.into(),
        })?;
        tx.outbox().record(&SystemEvent::KeyCreated(KeyFacts::new(&key, &owner)), now)?;
        Ok(key)
    })
}

fn fingerprint_taken() -> Error {
    FieldErrors::single("fingerprint", FieldProblem::Taken).into()
}

/// Removes one of the actor's own keys. Returns `None` when the actor has no key with this id.
pub fn remove_own(app: &App, actor: Actor, id: KeyId) -> Result<Option<SshKey>, Error> {
    remove(app, actor, Owner::Actor, id)
}

/// Removes a key of another user's account.
pub fn remove_of(app: &App, actor: Actor, user: UserId, id: KeyId) -> Result<SshKey, Error> {
    remove(app, actor, Owner::User(user), id)?.ok_or(Error::NotFound(Entity::Key))
}

fn remove(app: &App, actor: Actor, owner: Owner, id: KeyId) -> Result<Option<SshKey>, Error> {
    let user = owner.authorize(actor)?;
    app.store.write(|tx| {
        let owner = owner.lock(tx, user, Entity::User)?;
        let Some(key) = tx.keys().find(user, id)? else { return Ok(None) };
        tx.keys().delete(id)?;
        let facts = KeyFacts::new(&key, &owner);
        tx.outbox().record(&SystemEvent::KeyDestroyed(facts), app.clock.now())?;
        Ok(Some(key))
    })
}

/// A key of any user, or a deploy key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnyKey {
    /// A key of a user, with the user.
    OfUser(SshKey, Box<FullUser>),
    /// A deploy key.
    Deploy(DeployKey),
}

/// Returns any key of the service, for administrators.
pub fn get_any(app: &App, actor: Actor, id: KeyId) -> Result<AnyKey, Error> {
    access::require_service_ability(actor, ServiceAbility::Administer)?;
    app.store.read(|tx| {
        if let Some(key) = tx.keys().find_by_id(id)? {
            let user = tx.users().find(key.user)?.ok_or(Error::NotFound(Entity::Record))?;
            return Ok(AnyKey::OfUser(key, Box::new(view::full(tx, user)?)));
        }
        let key = tx.deploy_keys().find_by_id(id)?.ok_or(Error::NotFound(Entity::Record))?;
        Ok(AnyKey::Deploy(key))
    })
}
