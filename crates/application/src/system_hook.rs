//! System hooks, which receive events of the whole service.

use hexforge_domain::delivery::{HookRequest, PayloadFormat};
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::hook::kind::SYSTEM_HOOK;
use hexforge_domain::hook::{HookUrl, HookUrlError, checked_token};
use hexforge_domain::id::SystemHookId;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::system::ServiceAbility;
use hexforge_domain::system_hook::{SystemHook, SystemHookSettings};
use hexforge_domain::text::Secret;

use crate::access;
use crate::app::App;
use crate::delivery;
use crate::error::{Entity, Error};

/// The hook fields of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemHookFields {
    pub url: String,
    pub token: Option<Secret>,
    pub push_events: Option<bool>,
    pub tag_push_events: Option<bool>,
    pub enable_ssl_verification: Option<bool>,
}

/// Checks that the actor may manage system hooks.
pub fn authorize(actor: Actor) -> Result<(), Error> {
    access::require_service_ability(actor, ServiceAbility::Administer)
}

/// Lists all system hooks, newest first.
pub fn list(app: &App, actor: Actor, page: Page) -> Result<Paged<SystemHook>, Error> {
    authorize(actor)?;
    app.store.read(|tx| Ok(tx.system_hooks().list(page)?))
}

/// Returns one system hook.
pub fn get(app: &App, actor: Actor, id: SystemHookId) -> Result<SystemHook, Error> {
    authorize(actor)?;
    app.store.read(|tx| tx.system_hooks().find(id)?.ok_or(Error::NotFound(Entity::Record)))
}

/// Sends a sample payload to a hook once, and ignores the response.
pub fn test(app: &App, actor: Actor, id: SystemHookId, sample: &str) -> Result<(), Error> {
    let SystemHook { settings, .. } = get(app, actor, id)?;
    let request = HookRequest {
        format: PayloadFormat::Json,
        key: delivery::new_key(app),
        event: SYSTEM_HOOK.to_owned(),
        body: sample.to_owned(),
        url: Secret::new(settings.url.as_str()),
        token: settings.token,
        verify: settings.enable_ssl_verification,
    };
    delivery::post(app, request);
    Ok(())
}

/// Registers a hook.
pub fn create(app: &App, actor: Actor, fields: &SystemHookFields) -> Result<SystemHook, Error> {
    authorize(actor)?;
    let settings = SystemHookSettings {
        url: HookUrl::parse(&fields.url).map_err(url_errors)?,
        token: checked_token(fields.token.as_ref())?,
        push_events: fields.push_events.unwrap_or(true),
        tag_push_events: fields.tag_push_events.unwrap_or(false),
        enable_ssl_verification: fields.enable_ssl_verification.unwrap_or(true),
    };
    app.store.write(|tx| Ok(tx.system_hooks().insert(settings, app.clock.now())?))
}

fn url_errors(error: HookUrlError) -> FieldErrors {
    let mut errors = FieldErrors::single("url", error);
    match error {
        // A blank URL is also reported as an invalid one.
        HookUrlError::Blank(_) => errors.add("url", HookUrlError::Format),
        HookUrlError::TooLong(_) | HookUrlError::Format => (),
    }
    errors
}

/// Removes a hook.
pub fn delete(app: &App, actor: Actor, id: SystemHookId) -> Result<SystemHook, Error> {
    authorize(actor)?;
    app.store.write(|tx| {
        let hook = tx.system_hooks().find(id)?.ok_or(Error::NotFound(Entity::SystemHook))?;
        tx.system_hooks().delete(id)?;
        Ok(hook)
    })
}
