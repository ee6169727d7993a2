//! Variables of projects.

use actix_web::{HttpResponse, web};
use hexforge_application::variable;
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use super::table::Table;
use crate::api::Api;
use crate::entities::variable::VariableJson;
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description};
use crate::respond;

/// Adds the routes.
pub fn configure(cfg: &mut Table) {
    cfg.route("/projects/{id}/variables", web::get().to(list));
    cfg.route("/projects/{id}/variables", web::post().to(create));
    cfg.route("/projects/{id}/variables/{key}", web::get().to(get));
    cfg.route("/projects/{id}/variables/{key}", web::put().to(update));
    cfg.route("/projects/{id}/variables/{key}", web::delete().to(delete));
}

/// Describes the routes.
pub fn describe(to: &mut Description) {
    to.section("Variables");
    let all = "/projects/:id/variables";
    to.add(doc::get(all, "Variables").list::<VariableJson<'_>>());
    let fields = [
        doc::text("key", limit::SHORT).needed(),
        doc::text("value", limit::VARIABLE_VALUE).needed(),
    ];
    to.add(doc::post(all, "Makes a variable").takes(&fields).made::<VariableJson<'_>>());
    let one = format!("{all}/:key");
    to.add(doc::get(&one, "A variable").ok::<VariableJson<'_>>());
    let value = [doc::text("value", limit::VARIABLE_VALUE)];
    to.add(doc::put(&one, "Changes a variable").takes(&value).ok::<VariableJson<'_>>());
    to.add(doc::delete(&one, "Removes a variable").ok::<VariableJson<'_>>());
}

async fn list(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), page) = (id.into_inner(), api.page());
    let found = api.run(move |app, actor, _| Ok(variable::list(app, actor, &named, page)?)).await?;
    respond::paged(&api, page, found.as_ref().map(VariableJson::from))
}

async fn create(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let ProjectPath(named) = id.into_inner();
    let made = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let (key, value) = (declared.required_text("key"), declared.required_text("value"));
            declared.finish()?;
            Ok(variable::create(app, actor, &named, &key, &value)?)
        })
        .await?;
    respond::created(VariableJson::from(&made))
}

async fn get(api: Api, ids: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), key) = ids.into_inner();
    let found = api.run(move |app, actor, _| Ok(variable::get(app, actor, &named, &key)?)).await?;
    respond::ok(VariableJson::from(&found))
}

async fn update(api: Api, ids: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), key) = ids.into_inner();
    let changed = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let value = declared.text("value");
            declared.finish()?;
            Ok(variable::update(app, actor, &named, &key, value.as_deref())?)
        })
        .await?;
    respond::ok(VariableJson::from(&changed))
}

async fn delete(api: Api, ids: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), key) = ids.into_inner();
    let gone =
        api.run(move |app, actor, _| Ok(variable::delete(app, actor, &named, &key)?)).await?;
    respond::ok(VariableJson::from(&gone))
}
