//! System hooks, for administrators.

use actix_web::HttpResponse;
use hexforge_application::system_hook::{self, SystemHookFields};
use hexforge_domain::id::SystemHookId;
use hexforge_domain::text::Secret;
use hexforge_domain::text::limit;
use serde_json::json;

use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::hook::{RemovedSystemHookJson, SystemHookJson};
use crate::error::ApiResult;
use crate::params::{declared, parameters};
use crate::payloads::sample;
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("System hooks");
    calls.add(call::get("/hooks", "Lists the system hooks", list).list::<SystemHookJson>());
    calls.add(call::post("/hooks", "Creates a system hook", create).created::<SystemHookJson>());
    let test = call::get(
        "/hooks/{id}",
        "Sends a sample payload to a system hook, and shows the payload",
        test,
    );
    calls.add(test.json(json!({ "type": "object" })));
    let delete = call::delete("/hooks/{id}", "Removes a system hook", delete);
    calls.add(delete.ok::<RemovedSystemHookJson>());
}

parameters!(SystemHookFields {
    url: declared::text("url", limit::URL).needed(),
    token: declared::text("token", limit::SHORT).unless_empty().map_given(Secret::new),
    push_events: declared::boolean("push_events"),
    tag_push_events: declared::boolean("tag_push_events"),
    enable_ssl_verification: declared::boolean("enable_ssl_verification"),
});

parameters! {
    struct InPath {
        id: SystemHookId = declared::in_path("id").map(SystemHookId),
    }
}

async fn list(api: Api) -> ApiResult<HttpResponse> {
    let page = api.page_of_short_list();
    let hooks = api.run(move |app, actor, ()| system_hook::list(app, actor, page)).await?;
    respond::paged(&api, page, hooks.map(SystemHookJson::from))
}

async fn create(api: Api<SystemHookFields>) -> ApiResult<HttpResponse> {
    let made = api
        .run_unread(|app, actor, unread| {
            system_hook::authorize(actor)?;
            Ok(system_hook::create(app, actor, &unread.read()?)?)
        })
        .await?;
    respond::created(SystemHookJson::from(made))
}

/// Sends a sample payload, and responds with the payload whatever the receiver answers.
async fn test(api: Api<InPath>) -> ApiResult<HttpResponse> {
    let sample = sample();
    let sent = sample.to_string();
    api.run_unread(move |app, actor, unread| {
        system_hook::authorize(actor)?;
        Ok(system_hook::test(app, actor, unread.read()?.id, &sent)?)
    })
    .await?;
    respond::ok(sample)
}

async fn delete(api: Api<InPath>) -> ApiResult<HttpResponse> {
    let removed = api
        .run_unread(|app, actor, unread| {
            system_hook::authorize(actor)?;
            Ok(system_hook::delete(app, actor, unread.read()?.id)?)
        })
        .await?;
    respond::ok(RemovedSystemHookJson::from(removed))
}
