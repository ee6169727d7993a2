//! Hooks of projects. Who may not administer the project is told so before the parameters are read.

use actix_web::{HttpResponse, web};
use hexforge_application::project::hook::{self, HookFields};
use hexforge_application::{delivery, project};
use hexforge_domain::id::{DeliveryId, ProjectHookId};
use hexforge_domain::text::Secret;
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use super::table::Table;
use crate::api::Api;
use crate::entities::delivery::DeliveryJson;
use crate::entities::hook::ProjectHookJson;
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description, Param};
use crate::params::{Declared, Params};
use crate::payloads::JsonPayloads;
use crate::respond;

/// Adds the routes.
pub fn configure(cfg: &mut Table) {
    cfg.route("/projects/{id}/hooks", web::get().to(list));
    cfg.route("/projects/{id}/hooks", web::post().to(create));
    cfg.route("/projects/{id}/hooks/{hook}", web::get().to(get));
    cfg.route("/projects/{id}/hooks/{hook}", web::put().to(update));
    cfg.route("/projects/{id}/hooks/{hook}", web::delete().to(delete));
    cfg.route("/projects/{id}/hooks/{hook}/deliveries", web::get().to(deliveries));
    cfg.route("/projects/{id}/hooks/{hook}/deliveries/{delivery}/retry", web::post().to(retry));
}

const FIELDS: [Param; 12] = [
    doc::text("url", limit::URL).needed(),
    doc::boolean("push_events"),
    doc::boolean("issues_events"),
    doc::boolean("merge_requests_events"),
    doc::boolean("tag_push_events"),
    doc::boolean("note_events"),
    doc::boolean("build_events"),
    doc::boolean("pipeline_events"),
    doc::boolean("wiki_events"),
    doc::boolean("wiki_page_events"),
    doc::boolean("enable_ssl_verification"),
    doc::text("token", limit::SHORT),
];

/// Describes the routes.
pub fn describe(to: &mut Description) {
    to.section("Project hooks");
    let all = "/projects/:id/hooks";
    to.add(doc::get(all, "Hooks of a project").list::<ProjectHookJson>());
    to.add(doc::post(all, "Makes a hook").takes(&FIELDS).made::<ProjectHookJson>());
    let one = format!("{all}/:hook_id");
    to.add(doc::get(&one, "A hook").ok::<ProjectHookJson>());
    to.add(doc::put(&one, "Changes a hook").takes(&FIELDS).ok::<ProjectHookJson>());
    to.add(doc::delete(&one, "Removes a hook").ok::<ProjectHookJson>().or_empty());
    let deliveries = format!("{one}/deliveries");
    to.add(doc::get(&deliveries, "What a hook was sent").list::<DeliveryJson>());
    let retry = doc::post(format!("{deliveries}/:delivery_id/retry"), "Sends it again");
    to.add(retry.made::<DeliveryJson>());
}

async fn list(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), page) = (id.into_inner(), api.page());
    let hooks = api.run(move |app, actor, _| Ok(hook::list(app, actor, &named, page)?)).await?;
    respond::paged(&api, page, hooks.map(ProjectHookJson::from))
}

async fn get(api: Api, ids: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), id) = ids.into_inner();
    let found = api
        .run(move |app, actor, params| {
            project::authorize_administration(app, actor, &named)?;
            Ok(hook::get(app, actor, &named, read_id(params, &id)?)?)
        })
        .await?;
    respond::ok(ProjectHookJson::from(found))
}

async fn create(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let ProjectPath(named) = id.into_inner();
    let made = api
        .run(move |app, actor, params| {
            project::authorize_administration(app, actor, &named)?;
            let mut declared = params.declared();
            let fields = read_fields(&mut declared);
            declared.finish()?;
            Ok(hook::create(app, actor, &named, &fields)?)
        })
        .await?;
    respond::created(ProjectHookJson::from(made))
}

async fn update(api: Api, ids: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), id) = ids.into_inner();
    let payloads = JsonPayloads::with(api.links());
    let changed = api
        .run(move |app, actor, params| {
            project::authorize_administration(app, actor, &named)?;
            let mut declared = params.declared();
            let id = ProjectHookId(declared.path_integer("hook_id", &id));
            let fields = read_fields(&mut declared);
            declared.finish()?;
            delivery::catch_up(app, &payloads)?;
            Ok(hook::update(app, actor, &named, id, &fields)?)
        })
        .await?;
    respond::ok(ProjectHookJson::from(changed))
}

async fn delete(api: Api, ids: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let ((ProjectPath(named), id), dialect) = (ids.into_inner(), api.dialect());
    let (id, removed) = api
        .run(move |app, actor, params| {
            project::authorize_administration(app, actor, &named)?;
            let id = read_id(params, &id)?;
            Ok((id, hook::delete(app, actor, &named, id)?))
        })
        .await?;
    dialect.removed_hook(id, removed)
}

async fn deliveries(api: Api, ids: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let ((ProjectPath(named), id), page) = (ids.into_inner(), api.page());
    let list = api
        .run(move |app, actor, params| {
            project::authorize_administration(app, actor, &named)?;
            Ok(hook::deliveries(app, actor, &named, read_id(params, &id)?, page)?)
        })
        .await?;
    respond::paged(&api, page, list.map(DeliveryJson::from))
}

async fn retry(api: Api, ids: web::Path<(ProjectPath, String, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), id, delivery) = ids.into_inner();
    let again = api
        .run(move |app, actor, params| {
            project::authorize_administration(app, actor, &named)?;
            let mut declared = params.declared();
            let id = ProjectHookId(declared.path_integer("hook_id", &id));
            let delivery = DeliveryId(declared.path_integer("delivery_id", &delivery));
            declared.finish()?;
            Ok(hook::retry(app, actor, &named, id, delivery)?)
        })
        .await?;
    respond::created(DeliveryJson::from(again))
}

fn read_id(params: &Params, id: &str) -> ApiResult<ProjectHookId> {
    let mut declared = params.declared();
    let id = ProjectHookId(declared.path_integer("hook_id", id));
    declared.finish()?;
    Ok(id)
}

fn read_fields(declared: &mut Declared<'_>) -> HookFields {
    HookFields {
        url: declared.required_text("url"),
        push_events: declared.boolean("push_events"),
        issues_events: declared.boolean("issues_events"),
        merge_requests_events: declared.boolean("merge_requests_events"),
        tag_push_events: declared.boolean("tag_push_events"),
        note_events: declared.boolean("note_events"),
        build_events: declared.boolean("build_events"),
        pipeline_events: declared.boolean("pipeline_events"),
        // One client calls it in requests as it is called in answers.
        wiki_page_events: declared
            .boolean("wiki_events")
            .or_else(|| declared.boolean("wiki_page_events")),
        enable_ssl_verification: declared.boolean("enable_ssl_verification"),
        token: declared.text("token").filter(|token| !token.is_empty()).map(Secret::new),
    }
}
