//! Broadcast messages of administrators to all users.

use hexforge_domain::Timestamp;
use hexforge_domain::broadcast::{Broadcast, BroadcastFields};
use hexforge_domain::id::BroadcastId;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::system::ServiceAbility;

use crate::access;
use crate::app::App;
use crate::error::{Entity, Error};

/// A broadcast message in a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BroadcastView {
    /// The message.
    pub broadcast: Broadcast,
    /// Whether the message is shown now.
    pub active: bool,
}

impl BroadcastView {
    fn new(broadcast: Broadcast, now: Timestamp) -> Self {
        let active = broadcast.content.is_active(now);
        Self { broadcast, active }
    }
}

/// Checks that the actor may manage broadcast messages.
pub fn authorize(actor: Actor) -> Result<(), Error> {
    access::require_service_ability(actor, ServiceAbility::Administer)
}

/// Lists all messages, newest first.
pub fn list(app: &App, actor: Actor, page: Page) -> Result<Paged<BroadcastView>, Error> {
    authorize(actor)?;
    let now = app.clock.now();
    app.store.read(|tx| {
        let messages = tx.broadcasts().list(page)?;
        Ok(messages.map(|message| BroadcastView::new(message, now)))
    })
}

/// Returns one message.
pub fn get(app: &App, actor: Actor, id: BroadcastId) -> Result<BroadcastView, Error> {
    authorize(actor)?;
    app.store.read(|tx| {
        let found = tx.broadcasts().find(id)?.ok_or(Error::NotFound(Entity::Record))?;
        Ok(BroadcastView::new(found, app.clock.now()))
    })
}

/// Creates a message.
pub fn create(app: &App, actor: Actor, fields: &BroadcastFields) -> Result<BroadcastView, Error> {
    authorize(actor)?;
    let now = app.clock.now();
    let content = fields.create(now)?;
    app.store.write(|tx| Ok(BroadcastView::new(tx.broadcasts().insert(content)?, now)))
}

/// Changes the given fields of a message.
pub fn update(
    app: &App,
    actor: Actor,
    id: BroadcastId,
    fields: &BroadcastFields,
) -> Result<BroadcastView, Error> {
    authorize(actor)?;
    app.store.write(|tx| {
        let before = tx.broadcasts().lock(id)?.ok_or(Error::NotFound(Entity::Record))?;
        let after = Broadcast { content: fields.update(&before.content)?, ..before };
        tx.broadcasts().update(&after)?;
        Ok(BroadcastView::new(after, app.clock.now()))
    })
}

/// Removes a message, and returns it.
pub fn delete(app: &App, actor: Actor, id: BroadcastId) -> Result<BroadcastView, Error> {
    authorize(actor)?;
    app.store.write(|tx| {
        let removed = tx.broadcasts().lock(id)?.ok_or(Error::NotFound(Entity::Record))?;
        tx.broadcasts().delete(id)?;
        Ok(BroadcastView::new(removed, app.clock.now()))
    })
}
