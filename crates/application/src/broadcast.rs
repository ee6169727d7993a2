//! Broadcast messages of administrators to all users.

use std::sync::{PoisonError, RwLock};

use chrono::TimeDelta;
use hexforge_domain::Timestamp;
use hexforge_domain::broadcast::{Broadcast, BroadcastContent, BroadcastFields};
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

/// The messages that web pages show, as this process knows them. So a page needs no query for them.
#[derive(Debug, Default)]
pub struct BroadcastCache(RwLock<Option<KnownMessages>>);

#[derive(Clone, Debug)]
struct KnownMessages {
    read_at: Timestamp,
    messages: Vec<BroadcastContent>,
}

/// The time after which a process reads the messages again, because another process may have changed them.
const REFRESHED_EVERY: TimeDelta = TimeDelta::seconds(10);

/// The maximum number of messages that are shown.
const SHOWN: u64 = 20;

impl BroadcastCache {
    /// Returns the texts of the messages that are shown at a moment, newest first, without a query.
    pub fn texts(&self, now: Timestamp) -> Vec<String> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let messages = known.iter().flat_map(|known| &known.messages);
        let active = messages.filter(|message| message.is_active(now));
        active.map(|message| message.message.as_str().to_owned()).collect()
    }

    fn is_current(&self, now: Timestamp) -> bool {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().is_some_and(|known| now - known.read_at < REFRESHED_EVERY)
    }

    fn put(&self, known: Option<KnownMessages>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = known;
    }
}

/// Reads the messages for [`BroadcastCache::texts`], unless this process knows them.
pub fn refresh(app: &App) -> Result<(), Error> {
    let now = app.clock.now();
    if app.broadcasts.is_current(now) {
        return Ok(());
    }
    let newest = Page::Numbered { number: 1, size: SHOWN };
    let found = app.store.read_autocommit::<_, Error>(|tx| Ok(tx.broadcasts().list(newest)?))?;
    let contents = found.items.into_iter().map(|broadcast| broadcast.content);
    let messages = contents.filter(|content| now <= content.ends_at).collect();
    app.broadcasts.put(Some(KnownMessages { read_at: now, messages }));
    Ok(())
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
    let created = app.store.write::<_, Error>(|tx| Ok(tx.broadcasts().insert(content)?))?;
    app.broadcasts.put(None);
    Ok(BroadcastView::new(created, now))
}

/// Changes the given fields of a message.
pub fn update(
    app: &App,
    actor: Actor,
    id: BroadcastId,
    fields: &BroadcastFields,
) -> Result<BroadcastView, Error> {
    authorize(actor)?;
    let changed = app.store.write::<_, Error>(|tx| {
        let before = tx.broadcasts().lock(id)?.ok_or(Error::NotFound(Entity::Record))?;
        let after = Broadcast { content: fields.update(&before.content)?, ..before };
        tx.broadcasts().update(&after)?;
        Ok(after)
    })?;
    app.broadcasts.put(None);
    Ok(BroadcastView::new(changed, app.clock.now()))
}

/// Removes a message, and returns it.
pub fn delete(app: &App, actor: Actor, id: BroadcastId) -> Result<BroadcastView, Error> {
    authorize(actor)?;
    let removed = app.store.write::<_, Error>(|tx| {
        let removed = tx.broadcasts().lock(id)?.ok_or(Error::NotFound(Entity::Record))?;
        tx.broadcasts().delete(id)?;
        Ok(removed)
    })?;
    app.broadcasts.put(None);
    Ok(BroadcastView::new(removed, app.clock.now()))
}
