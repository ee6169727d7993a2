//! Broadcast messages, for administrators.

use actix_web::HttpResponse;
use hexforge_application::broadcast;
use hexforge_domain::Timestamp;
use hexforge_domain::broadcast::BroadcastFields;
use hexforge_domain::id::BroadcastId;
use hexforge_domain::text::limit;

use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::broadcast::BroadcastJson;
use crate::error::ApiResult;
use crate::params::{declared, nested, parameters};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Broadcast messages");
    let (all, one) = ("/broadcast_messages", "/broadcast_messages/{id}");
    calls.add(call::get(all, "Lists the broadcast messages", list).list::<BroadcastJson>());
    calls.add(call::post(all, "Creates a broadcast message", create).created::<BroadcastJson>());
    calls.add(call::get(one, "Shows a broadcast message", get).ok::<BroadcastJson>());
    calls.add(call::put(one, "Updates a broadcast message", update).ok::<BroadcastJson>());
    calls.add(call::delete(one, "Removes a broadcast message", delete).ok::<BroadcastJson>());
}

parameters! {
    struct InPath {
        id: BroadcastId = declared::in_path("id").map(BroadcastId),
    }
}

parameters! {
    /// The parameters besides the text.
    struct Look {
        starts_at: Option<Timestamp> = declared::moment("starts_at"),
        ends_at: Option<Timestamp> = declared::moment("ends_at"),
        color: Option<String> = declared::text("color", limit::COLOR),
        font: Option<String> = declared::text("font", limit::COLOR),
    }
}

impl Look {
    fn with_message(self, message: Option<String>) -> BroadcastFields {
        let Self { starts_at, ends_at, color, font } = self;
        BroadcastFields { message, starts_at, ends_at, color, font }
    }
}

parameters! {
    struct NewMessage {
        message: String = declared::text("message", limit::BROADCAST).needed(),
        look: Look = nested::<Look>(),
    }
}

parameters! {
    struct Changes {
        id: BroadcastId = declared::in_path("id").map(BroadcastId),
        message: Option<String> = declared::text("message", limit::BROADCAST),
        look: Look = nested::<Look>(),
    }
}

async fn list(api: Api) -> ApiResult<HttpResponse> {
    let page = api.page();
    let messages = api.run(move |app, actor, ()| broadcast::list(app, actor, page)).await?;
    respond::paged(&api, page, messages.map(BroadcastJson::from))
}

async fn create(api: Api<NewMessage>) -> ApiResult<HttpResponse> {
    let made = api
        .run_unread(|app, actor, unread| {
            broadcast::authorize(actor)?;
            let NewMessage { message, look } = unread.read()?;
            Ok(broadcast::create(app, actor, &look.with_message(Some(message)))?)
        })
        .await?;
    respond::created(BroadcastJson::from(made))
}

async fn get(api: Api<InPath>) -> ApiResult<HttpResponse> {
    let found = api
        .run_unread(|app, actor, unread| {
            broadcast::authorize(actor)?;
            Ok(broadcast::get(app, actor, unread.read()?.id)?)
        })
        .await?;
    respond::ok(BroadcastJson::from(found))
}

async fn update(api: Api<Changes>) -> ApiResult<HttpResponse> {
    let changed = api
        .run_unread(|app, actor, unread| {
            broadcast::authorize(actor)?;
            let Changes { id, message, look } = unread.read()?;
            Ok(broadcast::update(app, actor, id, &look.with_message(message))?)
        })
        .await?;
    respond::ok(BroadcastJson::from(changed))
}

async fn delete(api: Api<InPath>) -> ApiResult<HttpResponse> {
    let removed = api
        .run_unread(|app, actor, unread| {
            broadcast::authorize(actor)?;
            Ok(broadcast::delete(app, actor, unread.read()?.id)?)
        })
        .await?;
    respond::ok(BroadcastJson::from(removed))
}
