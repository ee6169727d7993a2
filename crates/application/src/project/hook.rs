//! Hooks of projects.

use hexforge_domain::delivery::{Delivery, HookRef, NewDelivery};
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::hook::kind::HookKind;
use hexforge_domain::hook::{HookUrl, HookUrlError, checked_token};
use hexforge_domain::id::{DeliveryId, ProjectHookId};
use hexforge_domain::outbox::SystemEvent;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::ports::payloads::{Audience, Payloads};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::project::hook::{HookSwitches, ProjectHook, ProjectHookSettings};
use hexforge_domain::text::Secret;

use crate::access;
use crate::app::App;
use crate::delivery;
use crate::error::{Entity, Error};
use crate::push;
use crate::view::project as view;

/// The hook fields of a request. `None` means not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookFields {
    pub url: String,
    pub token: Option<Secret>,
    pub push_events: Option<bool>,
    pub tag_push_events: Option<bool>,
    pub issues_events: Option<bool>,
    pub merge_requests_events: Option<bool>,
    pub note_events: Option<bool>,
    pub build_events: Option<bool>,
    pub pipeline_events: Option<bool>,
    pub wiki_page_events: Option<bool>,
    pub enable_ssl_verification: Option<bool>,
}

/// Lists the hooks of a project, newest first.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    page: Page,
) -> Result<Paged<ProjectHook>, Error> {
    app.store.read(|tx| {
        let project = app.requester(actor).project(tx, ProjectAbility::Administer, named)?;
        Ok(tx.project_hooks().list(project.id, page)?)
    })
}

/// Returns one hook.
pub fn get(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: ProjectHookId,
) -> Result<ProjectHook, Error> {
    app.store.read(|tx| {
        let project = app.requester(actor).project(tx, ProjectAbility::Administer, named)?;
        tx.project_hooks().find(project.id, id)?.ok_or(Error::NotFound(Entity::Record))
    })
}

/// Lists the deliveries of a hook, newest first.
pub fn deliveries(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: ProjectHookId,
    page: Page,
) -> Result<Paged<Delivery>, Error> {
    app.store.read(|tx| {
        let project = app.requester(actor).project(tx, ProjectAbility::Administer, named)?;
        let hook =
            tx.project_hooks().find(project.id, id)?.ok_or(Error::NotFound(Entity::Record))?;
        Ok(tx.delivery_log().list(HookRef::Project(hook.id), page)?)
    })
}

/// Returns one delivery of a hook.
pub fn delivery(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: ProjectHookId,
    delivery: DeliveryId,
) -> Result<Delivery, Error> {
    app.store.read(|tx| {
        let project = app.requester(actor).project(tx, ProjectAbility::Administer, named)?;
        let missing = || Error::NotFound(Entity::Record);
        let hook = tx.project_hooks().find(project.id, id)?.ok_or_else(missing)?;
        tx.delivery_log().find(HookRef::Project(hook.id), delivery)?.ok_or_else(missing)
    })
}

/// Queues a sample for a hook: the push of the newest commit of the default branch. It is sent like any other delivery.
pub fn test(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: ProjectHookId,
    payloads: &dyn Payloads,
) -> Result<(), Error> {
    let user = access::own_account(actor)?;
    let no_commits = || {
        let text = "The project has no commits yet. Push one, and test the hook again.";
        Error::from(FieldErrors::single("base", text))
    };
    let (placed, user) = app.store.read(|tx| {
        let project = app.requester(actor).project(tx, ProjectAbility::Administer, named)?;
        tx.project_hooks().find(project.id, id)?.ok_or(Error::NotFound(Entity::Record))?;
        let user = tx.users().find(user)?.ok_or(Error::Unauthenticated)?;
        // Payloads show avatars by the settings.
        app.current_settings(tx)?;
        Ok::<_, Error>((view::with_namespace(tx, project)?, user))
    })?;
    let push = push::sample(app, &placed, &user)?.ok_or_else(no_commits)?;
    let event = SystemEvent::Pushed(Box::new(push));
    let body = payloads.payload_json(&event, Audience::Project);
    let name = HookKind::of(&event).map_or("Push Hook", HookKind::name);
    let now = app.clock.now();
    app.store.write(|tx| {
        let project = app.requester(actor).project(tx, ProjectAbility::Administer, named)?;
        let hook =
            tx.project_hooks().find(project.id, id)?.ok_or(Error::NotFound(Entity::Record))?;
        let payload = tx.deliveries().insert_payload(&body, now)?;
        let new = NewDelivery {
            key: delivery::new_key(app),
            hook: HookRef::Project(hook.id),
            event: name.to_owned(),
            payload,
            at: now,
        };
        Ok(tx.deliveries().insert(&[new])?)
    })
}

/// Schedules a delivery to be sent again at once.
pub fn retry(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: ProjectHookId,
    delivery: DeliveryId,
) -> Result<Delivery, Error> {
    app.store.write(|tx| {
        let project = app.requester(actor).project(tx, ProjectAbility::Administer, named)?;
        let hook =
            tx.project_hooks().find(project.id, id)?.ok_or(Error::NotFound(Entity::Record))?;
        let hook = HookRef::Project(hook.id);
        let missing = || Error::NotFound(Entity::Record);
        let found = tx.delivery_log().find(hook, delivery)?.ok_or_else(missing)?;
        tx.delivery_log().retry(found.id, app.clock.now())?;
        tx.delivery_log().find(hook, delivery)?.ok_or_else(missing)
    })
}

fn parse_url(url: &str) -> Result<HookUrl, Error> {
    HookUrl::parse(url).map_err(|error| match error {
        HookUrlError::TooLong(_) => FieldErrors::single("url", error).into(),
        HookUrlError::Blank(_) | HookUrlError::Format => Error::HookUrl,
    })
}

/// Registers a hook.
pub fn create(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    fields: &HookFields,
) -> Result<ProjectHook, Error> {
    app.store.write(|tx| {
        let project = app.requester(actor).project(tx, ProjectAbility::Administer, named)?;
        let settings = ProjectHookSettings {
            url: parse_url(&fields.url)?,
            token: checked_token(fields.token.as_ref())?,
            switches: apply_switches(fields, HookSwitches::default()),
            enable_ssl_verification: fields.enable_ssl_verification.unwrap_or(true),
        };
        Ok(tx.project_hooks().insert(project.id, settings, app.clock.now())?)
    })
}

/// Updates the given fields of a hook. The token is meant for one receiver: a new URL without a new token removes it.
pub fn update(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: ProjectHookId,
    fields: &HookFields,
) -> Result<ProjectHook, Error> {
    app.store.write(|tx| {
        let project = app.requester(actor).locked_project(tx, ProjectAbility::Administer, named)?;
        let hook =
            tx.project_hooks().find(project.id, id)?.ok_or(Error::NotFound(Entity::Record))?;
        let url = parse_url(&fields.url)?;
        let kept = hook.settings.token.clone().filter(|_| url == hook.settings.url);
        let settings = ProjectHookSettings {
            token: checked_token(fields.token.as_ref())?.or(kept),
            switches: apply_switches(fields, hook.settings.switches),
            enable_ssl_verification: fields
                .enable_ssl_verification
                .unwrap_or(hook.settings.enable_ssl_verification),
            url,
        };
        tx.project_hooks().update(id, &settings, app.clock.now())?;
        Ok(ProjectHook { settings, ..hook })
    })
}

/// Removes a hook. Returns `None` when the project has no hook with this id.
pub fn delete(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: ProjectHookId,
) -> Result<Option<ProjectHook>, Error> {
    app.store.write(|tx| {
        let project = app.requester(actor).locked_project(tx, ProjectAbility::Administer, named)?;
        let Some(hook) = tx.project_hooks().find(project.id, id)? else { return Ok(None) };
        tx.project_hooks().delete(id)?;
        Ok(Some(hook))
    })
}

fn apply_switches(fields: &HookFields, before: HookSwitches) -> HookSwitches {
    HookSwitches {
        push: fields.push_events.unwrap_or(before.push),
        tag_push: fields.tag_push_events.unwrap_or(before.tag_push),
        issues: fields.issues_events.unwrap_or(before.issues),
        merge_requests: fields.merge_requests_events.unwrap_or(before.merge_requests),
        note: fields.note_events.unwrap_or(before.note),
        build: fields.build_events.unwrap_or(before.build),
        pipeline: fields.pipeline_events.unwrap_or(before.pipeline),
        wiki_page: fields.wiki_page_events.unwrap_or(before.wiki_page),
    }
}
