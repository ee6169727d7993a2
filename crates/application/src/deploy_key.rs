//! Deploy keys of projects.

use hexforge_domain::Timestamp;
use hexforge_domain::deploy_key::{DeployKey, parse_new};
use hexforge_domain::field_errors::{FieldErrors, FieldProblem};
use hexforge_domain::id::{KeyId, ProjectId};
use hexforge_domain::outbox::{DeployKeyFacts, SystemEvent};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::policy::system::ServiceAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::user::key::{Fingerprint, NewSshKey};

use crate::access;
use crate::app::App;
use crate::error::{Entity, Error};
use crate::project::ROWS_PER_READ;
use crate::public_key::is_same_key;
use crate::retry;

/// The fields of a new deploy key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeployKeyFields {
    pub title: Option<String>,
    pub key: Option<String>,
}

/// Lists all deploy keys of the service, newest first.
pub fn list_all(app: &App, actor: Actor, page: Page) -> Result<Paged<DeployKey>, Error> {
    access::require_service_ability(actor, ServiceAbility::Administer)?;
    Ok(app.store.read(|tx| tx.deploy_keys().all(page))?)
}

/// Lists the deploy keys of a project, newest first.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    page: Page,
) -> Result<Paged<DeployKey>, Error> {
    app.store.read(|tx| {
        let project = app.requester(actor).project(tx, ProjectAbility::Administer, named)?;
        Ok(tx.deploy_keys().list(project.id, page)?)
    })
}

/// Returns one deploy key of a project.
pub fn get(app: &App, actor: Actor, named: &ProjectRef, id: KeyId) -> Result<DeployKey, Error> {
    app.store.read(|tx| {
        let project = app.requester(actor).project(tx, ProjectAbility::Administer, named)?;
        tx.deploy_keys().find(project.id, id)?.ok_or(Error::NotFound(Entity::Record))
    })
}

/// Gives a key to a project: one that the project has is returned unchanged, one that the actor can reach is attached,
/// and any other is registered.
pub fn add(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    fields: &DeployKeyFields,
) -> Result<DeployKey, Error> {
    let key = fields.key.as_deref().map(str::trim);
    let fingerprint = key.and_then(|key| app.public_keys.fingerprint(key));
    // Another project may get the key at the same time. The next attempt finds it.
    let is_late = |error: &Error| matches!(error, Error::Store(StoreError::Duplicate(_)));
    let added = retry::while_busy(retry::TRIES, is_late, || {
        app.store.write(|tx| {
            let ability = ProjectAbility::Administer;
            let project = app.requester(actor).locked_project(tx, ability, named)?.id;
            let registered = match &fingerprint {
                Some(fingerprint) => tx.deploy_keys().find_by_fingerprint(fingerprint)?,
                None => None,
            };
            if let (Some(registered), Some(key)) = (&registered, key)
                && is_same_key(&registered.key, key)
                && (tx.deploy_keys().find(project, registered.id)?.is_some()
                    || is_reachable(app, tx, actor, registered.id)?)
            {
                tx.deploy_keys().attach(registered.id, project)?;
                return Ok(registered.clone());
            }
            let mut errors = FieldErrors::default();
            let new = errors.merge(parse_new(fields.title.as_deref(), key, &*app.public_keys));
            if registered.is_some() || is_of_user(tx, fingerprint.as_ref())? {
                errors.add("fingerprint", FieldProblem::Taken);
            }
            let new = errors.into_result_with(|| new)?;
            register(tx, project, new, app.clock.now())
        })
    });
    added.map_err(|error| match is_late(&error) {
        true => FieldErrors::single("fingerprint", FieldProblem::Taken).into(),
        false => error,
    })
}

/// Returns whether a user has registered a key with this fingerprint.
fn is_of_user(tx: &mut dyn Tx, of: Option<&Fingerprint>) -> Result<bool, StoreError> {
    let Some(of) = of else { return Ok(false) };
    Ok(tx.keys().find_by_fingerprint(of)?.is_some())
}

/// Registers a new deploy key of a project.
fn register(
    tx: &mut dyn Tx,
    project: ProjectId,
    new: NewSshKey,
    now: Timestamp,
) -> Result<DeployKey, Error> {
    let key = tx.deploy_keys().insert(new, now)?;
    tx.deploy_keys().attach(key.id, project)?;
    tx.outbox().record(&SystemEvent::DeployKeyCreated(DeployKeyFacts::from(&key)), now)?;
    Ok(key)
}

/// Attaches a deploy key that the actor can reach to a project.
pub fn enable(app: &App, actor: Actor, named: &ProjectRef, id: KeyId) -> Result<DeployKey, Error> {
    app.store.write(|tx| {
        let project = app.requester(actor).locked_project(tx, ProjectAbility::Administer, named)?;
        if let Some(attached) = tx.deploy_keys().find(project.id, id)? {
            return Ok(attached);
        }
        let key = tx.deploy_keys().find_by_id(id)?.ok_or(Error::NotFound(Entity::DeployKey))?;
        if !is_reachable(app, tx, actor, id)? {
            return Err(Error::NotFound(Entity::DeployKey));
        }
        tx.deploy_keys().attach(id, project.id)?;
        Ok(key)
    })
}

/// Takes a deploy key from a project. A key that no project has is deleted.
pub fn disable(app: &App, actor: Actor, named: &ProjectRef, id: KeyId) -> Result<DeployKey, Error> {
    app.store.write(|tx| {
        let project = app.requester(actor).locked_project(tx, ProjectAbility::Administer, named)?;
        let found = tx.deploy_keys().find(project.id, id)?;
        let key = found.ok_or(Error::NotFound(Entity::DeployKey))?;
        detach(tx, &key, project.id, app.clock.now())?;
        Ok(key)
    })
}

/// Takes all deploy keys from a project that is about to be removed.
pub(crate) fn detach_all(
    tx: &mut dyn Tx,
    project: ProjectId,
    now: Timestamp,
) -> Result<(), StoreError> {
    // Always the first page: its keys are detached before the next query.
    let first = Page::Numbered { number: 1, size: ROWS_PER_READ as u64 };
    loop {
        let keys = tx.deploy_keys().list(project, first)?;
        for key in &keys.items {
            detach(tx, key, project, now)?;
        }
        if keys.items.len() < ROWS_PER_READ {
            return Ok(());
        }
    }
}

fn detach(
    tx: &mut dyn Tx,
    key: &DeployKey,
    project: ProjectId,
    now: Timestamp,
) -> Result<(), StoreError> {
    if tx.deploy_keys().detach(key.id, project)? {
        tx.outbox().record(&SystemEvent::DeployKeyDestroyed(DeployKeyFacts::from(key)), now)?;
    }
    Ok(())
}

/// Returns whether the actor can reach the key: whether a project that the actor is authorized for has it.
fn is_reachable(app: &App, tx: &mut dyn Tx, actor: Actor, id: KeyId) -> Result<bool, Error> {
    let user = actor.user().ok_or(Error::Unauthenticated)?;
    Ok(tx.deploy_keys().is_reachable(id, user, app.today())?)
}
