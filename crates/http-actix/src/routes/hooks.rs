//! Hooks of the service, for administrators.

use actix_web::{HttpResponse, web};
use hexforge_application::system_hook::{self, SystemHookFields};
use hexforge_domain::id::SystemHookId;
use hexforge_domain::text::Secret;
use hexforge_domain::text::limit;
use serde_json::json;

use super::table::Table;
use crate::api::Api;
use crate::entities::hook::{RemovedSystemHookJson, SystemHookJson};
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description};
use crate::params::Params;
use crate::payloads::sample;
use crate::respond;

/// Adds the routes.
pub fn configure(cfg: &mut Table) {
    cfg.route("/hooks", web::get().to(list));
    cfg.route("/hooks", web::post().to(create));
    cfg.route("/hooks/{id}", web::get().to(test));
    cfg.route("/hooks/{id}", web::delete().to(delete));
}

/// Describes the routes.
pub fn describe(to: &mut Description) {
    to.section("System hooks");
    to.add(doc::get("/hooks", "Hooks of the service").list::<SystemHookJson>());
    let fields = [
        doc::text("url", limit::URL).needed(),
        doc::text("token", limit::SHORT),
        doc::boolean("push_events"),
        doc::boolean("tag_push_events"),
        doc::boolean("enable_ssl_verification"),
    ];
    to.add(doc::post("/hooks", "Makes a hook").takes(&fields).made::<SystemHookJson>());
    let sample = json!({ "type": "object" });
    to.add(doc::get("/hooks/:id", "Sends a hook a sample, and shows it").json(sample));
    to.add(doc::delete("/hooks/:id", "Removes a hook").ok::<RemovedSystemHookJson>());
}

async fn list(api: Api) -> ApiResult<HttpResponse> {
    let page = api.page_of_short_list();
    let hooks = api.run(move |app, actor, _| Ok(system_hook::list(app, actor, page)?)).await?;
    respond::paged(&api, page, hooks.map(SystemHookJson::from))
}

async fn create(api: Api) -> ApiResult<HttpResponse> {
    let made = api
        .run(|app, actor, params| {
            system_hook::authorize(actor)?;
            let mut declared = params.declared();
            let fields = SystemHookFields {
                url: declared.required_text("url"),
                token: declared.text("token").filter(|token| !token.is_empty()).map(Secret::new),
                push_events: declared.boolean("push_events"),
                tag_push_events: declared.boolean("tag_push_events"),
                enable_ssl_verification: declared.boolean("enable_ssl_verification"),
            };
            declared.finish()?;
            Ok(system_hook::create(app, actor, &fields)?)
        })
        .await?;
    respond::created(SystemHookJson::from(made))
}

/// Sends a sample, and answers with it whatever the receiver says.
async fn test(api: Api, id: web::Path<String>) -> ApiResult<HttpResponse> {
    let id = id.into_inner();
    let sample = sample();
    let sent = sample.to_string();
    api.run(move |app, actor, params| {
        system_hook::authorize(actor)?;
        Ok(system_hook::test(app, actor, read_id(params, &id)?, &sent)?)
    })
    .await?;
    respond::ok(sample)
}

async fn delete(api: Api, id: web::Path<String>) -> ApiResult<HttpResponse> {
    let id = id.into_inner();
    let removed = api
        .run(move |app, actor, params| {
            system_hook::authorize(actor)?;
            Ok(system_hook::delete(app, actor, read_id(params, &id)?)?)
        })
        .await?;
    respond::ok(RemovedSystemHookJson::from(removed))
}

fn read_id(params: &Params, id: &str) -> ApiResult<SystemHookId> {
    let mut declared = params.declared();
    let id = SystemHookId(declared.path_integer("id", id));
    declared.finish()?;
    Ok(id)
}
