//! Turns events into deliveries to the hooks that receive them.

use chrono::TimeDelta;
use hexforge_domain::delivery::{HookRef, NewDelivery};
use hexforge_domain::hook::kind::{HookKind, SYSTEM_HOOK};
use hexforge_domain::id::OutboxId;
use hexforge_domain::outbox::OutboxEntry;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::payloads::{Audience, Payloads};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::hook::ProjectHook;
use hexforge_domain::service::ProjectService;
use hexforge_domain::service::slack::ChatSettings;
use hexforge_domain::system_hook::SystemHook;
use hexforge_domain::unique::sorted_unique;

use super::new_key;
use crate::app::App;
use crate::error::Error;
use crate::view::project::page_with_namespaces;

/// A transaction stops reading after this many events or deliveries, because other writers wait for it.
const MAX_EVENTS: usize = 50;
const MAX_DELIVERIES: usize = 100;
/// The number of events per query.
const BATCH: u32 = 5;

/// The maximum number of transactions, and the maximum time, that [`catch_up`] takes. A request waits for it.
const CATCH_UP_BATCHES: u32 = 4;
const CATCH_UP_TIME: TimeDelta = TimeDelta::seconds(1);

/// Turns the oldest events into deliveries to the hooks that receive them. Returns whether there may be more.
pub fn fan_out(app: &App, payloads: &dyn Payloads) -> Result<bool, Error> {
    let mut after = None;
    loop {
        let (expanded, last) = app.store.write(|tx| expand_batch(app, tx, payloads, after))?;
        match last {
            None => return Ok(false),
            Some(_) if expanded > 0 => return Ok(true),
            // All events of this batch were written by a newer release and cannot be read by this one.
            Some(last) => after = Some(last),
        }
    }
}

/// Turns the waiting events into deliveries, before a request changes the settings of a hook: an event is delivered by
/// the settings at its time. Handles only the oldest events of a long queue, because the request waits.
pub fn catch_up(app: &App, payloads: &dyn Payloads) -> Result<(), Error> {
    let until = app.clock.now() + CATCH_UP_TIME;
    let mut after = None;
    for _ in 0..CATCH_UP_BATCHES {
        let (expanded, last) = app.store.write(|tx| expand_batch(app, tx, payloads, after))?;
        if last.is_none() || app.clock.now() >= until {
            break;
        }
        // Events that this release does not know are skipped.
        after = if expanded > 0 { None } else { last };
    }
    Ok(())
}

/// Turns the next events into deliveries. Returns the number of events, and the id of the last one that was read.
fn expand_batch(
    app: &App,
    tx: &mut dyn Tx,
    payloads: &dyn Payloads,
    after: Option<OutboxId>,
) -> Result<(usize, Option<OutboxId>), StoreError> {
    let (mut expanded, mut deliveries, mut last) = (0, 0, None);
    while expanded < MAX_EVENTS && deliveries < MAX_DELIVERIES {
        let batch = tx.outbox().next(last.or(after), BATCH)?;
        if batch.last.is_none() {
            break;
        }
        last = batch.last;
        if batch.entries.is_empty() {
            break;
        }
        deliveries += insert_deliveries(app, tx, payloads, &batch.entries)?;
        expanded += batch.entries.len();
    }
    Ok((expanded, last))
}

/// Turns events into deliveries. Returns the number of deliveries.
fn insert_deliveries(
    app: &App,
    tx: &mut dyn Tx,
    payloads: &dyn Payloads,
    entries: &[OutboxEntry],
) -> Result<usize, StoreError> {
    let hooks = Hooks::load(tx, entries)?;
    // Payloads show avatars by the settings.
    app.current_settings(tx)?;
    let mut new = Vec::new();
    for entry in entries {
        let now = app.clock.now();
        for (audience, name, hooks) in hooks.receivers_of(entry) {
            if hooks.is_empty() {
                continue;
            }
            let payload = tx
                .deliveries()
                .insert_payload(&payloads.payload_json(&entry.event, audience), now)?;
            new.extend(hooks.into_iter().map(|hook| NewDelivery {
                key: new_key(app),
                hook,
                event: name.to_owned(),
                payload,
                at: now,
            }));
        }
        for (chat, name) in hooks.chats_of(entry) {
            let Some(form) = payloads.chat_form(&entry.event, chat.settings()) else { continue };
            new.push(NewDelivery {
                key: new_key(app),
                hook: HookRef::Service(chat.service.id),
                event: name.to_owned(),
                payload: tx.deliveries().insert_payload(&form, now)?,
                at: now,
            });
        }
    }
    tx.deliveries().insert(&new)?;
    let expanded: Vec<OutboxId> = entries.iter().map(|entry| entry.id).collect();
    tx.outbox().remove(&expanded)?;
    Ok(new.len())
}

/// The hooks that may receive a batch of events, by id.
struct Hooks {
    system: Vec<SystemHook>,
    project: Vec<ProjectHook>,
    chats: Vec<Chat>,
}

/// A service that sends messages about its project to a chat.
struct Chat {
    service: ProjectService,
    /// See [`ChatSettings::project_name`].
    project_name: String,
}

impl Chat {
    /// Adds the names of their projects to services.
    fn load(tx: &mut dyn Tx, services: Vec<ProjectService>) -> Result<Vec<Self>, StoreError> {
        if services.is_empty() {
            return Ok(vec![]);
        }
        let ids = sorted_unique(services.iter().map(|service| service.project));
        let items = tx.projects().find_all(&ids)?;
        let placed = page_with_namespaces(tx, Paged { total: items.len() as u64, items })?.items;
        let chat = |service: ProjectService| {
            let placed = placed.iter().find(|placed| placed.project.id == service.project)?;
            let name = format!("{}/{}", placed.place.human_name(), placed.project.name.as_str());
            let project_name = name.split_whitespace().collect();
            Some(Chat { service, project_name })
        };
        Ok(services.into_iter().filter_map(chat).collect())
    }

    fn settings(&self) -> ChatSettings<'_> {
        ChatSettings { properties: &self.service.properties, project_name: &self.project_name }
    }
}

impl Hooks {
    fn load(tx: &mut dyn Tx, entries: &[OutboxEntry]) -> Result<Self, StoreError> {
        let mut system = tx.system_hooks().list(Page::Whole)?.items;
        system.reverse();
        let projects = sorted_unique(entries.iter().filter_map(|entry| entry.event.project()));
        if projects.is_empty() {
            return Ok(Self { system, project: vec![], chats: vec![] });
        }
        let project = tx.project_hooks().of_projects(&projects)?;
        let services = tx.services().receivers_of(&projects)?;
        Ok(Self { system, project, chats: Chat::load(tx, services)? })
    }

    /// Returns the chats that are told of an event, with the event name. Like hooks, services that were set after the
    /// event are not.
    fn chats_of(&self, entry: &OutboxEntry) -> Vec<(&Chat, &'static str)> {
        let of_project = self.chats.iter().filter(|chat| {
            Some(chat.service.project) == entry.event.project()
                && chat.service.created_at <= entry.at
        });
        of_project
            .filter_map(|chat| Some((chat, chat.settings().told(&entry.event)?.name())))
            .collect()
    }

    /// Returns the hooks that receive an event, with the event name. Hooks that were created after the event do not.
    fn receivers_of(&self, entry: &OutboxEntry) -> Vec<(Audience, &'static str, Vec<HookRef>)> {
        let event = &entry.event;
        let mut receivers = Vec::with_capacity(2);
        if let (Some(project), Some(kind)) = (event.project(), HookKind::of(event)) {
            let hooks = self.project.iter().filter(|hook| {
                hook.project == project
                    && hook.settings.switches.receives(kind)
                    && hook.created_at <= entry.at
            });
            let hooks = hooks.map(|hook| HookRef::Project(hook.id)).collect();
            receivers.push((Audience::Project, kind.name(), hooks));
        }
        let hooks = self.system.iter();
        let hooks =
            hooks.filter(|hook| hook.settings.receives(event) && hook.created_at <= entry.at);
        let hooks = hooks.map(|hook| HookRef::System(hook.id)).collect();
        receivers.push((Audience::Service, SYSTEM_HOOK, hooks));
        receivers
    }
}
