//! Triggers of projects, and pipelines that are started by them.

use actix_web::{HttpResponse, web};
use hexforge_application::error::Error;
use hexforge_application::trigger;
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use super::table::Table;
use crate::api::Api;
use crate::entities::trigger::{TriggerJson, TriggeredJson};
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description};
use crate::respond;

/// Adds the routes.
pub fn configure(cfg: &mut Table) {
    cfg.route("/projects/{id}/triggers", web::get().to(list));
    cfg.route("/projects/{id}/triggers", web::post().to(create));
    cfg.route("/projects/{id}/triggers/{token}", web::get().to(get));
    cfg.route("/projects/{id}/triggers/{token}", web::delete().to(delete));
    cfg.route("/projects/{id}/trigger/builds", web::post().to(start));
}

/// Describes the routes.
pub fn describe(to: &mut Description) {
    to.section("Triggers");
    let all = "/projects/:id/triggers";
    to.add(doc::get(all, "Triggers").list::<TriggerJson<'_>>());
    to.add(doc::post(all, "Makes a trigger").made::<TriggerJson<'_>>());
    let one = format!("{all}/:token");
    to.add(doc::get(&one, "A trigger").ok::<TriggerJson<'_>>());
    to.add(doc::delete(&one, "Removes a trigger").ok::<TriggerJson<'_>>());
    let fields = [
        doc::text("token", limit::SHORT).needed(),
        doc::text("ref", limit::REF_NAME).needed(),
        doc::map("variables", limit::VARIABLE_VALUE),
    ];
    let start = doc::post("/projects/:id/trigger/builds", "Starts a pipeline").open();
    to.add(start.takes(&fields).made::<TriggeredJson>());
}

async fn list(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), page) = (id.into_inner(), api.page());
    let found = api.run(move |app, actor, _| Ok(trigger::list(app, actor, &named, page)?)).await?;
    respond::paged(&api, page, found.as_ref().map(TriggerJson::from))
}

async fn create(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let ProjectPath(named) = id.into_inner();
    let made = api.run(move |app, actor, _| Ok(trigger::create(app, actor, &named)?)).await?;
    respond::created(TriggerJson::from(&made))
}

async fn get(api: Api, ids: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), token) = ids.into_inner();
    let found = api.run(move |app, actor, _| Ok(trigger::get(app, actor, &named, &token)?)).await?;
    respond::ok(TriggerJson::from(&found))
}

async fn delete(api: Api, ids: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), token) = ids.into_inner();
    let gone =
        api.run(move |app, actor, _| Ok(trigger::delete(app, actor, &named, &token)?)).await?;
    respond::ok(TriggerJson::from(&gone))
}

/// The token is all that is asked for: who calls is nobody's business.
async fn start(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let ProjectPath(named) = id.into_inner();
    let mut declared = api.params().declared();
    let (token, reference) = (declared.required_text("token"), declared.required_text("ref"));
    declared.finish()?;
    let variables = api
        .params()
        .text_map("variables")
        .ok_or(Error::Refused("variables needs to be a map of key-valued strings".into()))?;
    let started =
        api.run_step(move |app| trigger::start(app, &named, &token, &reference, variables));
    respond::created(TriggeredJson::from(started.await?))
}
