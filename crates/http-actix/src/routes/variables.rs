//! Variables of projects.

use actix_web::{HttpResponse, web};
use hexforge_application::variable;
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::variable::VariableJson;
use crate::error::ApiResult;
use crate::params::{declared, parameters};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Variables");
    let all = "/projects/{id}/variables";
    calls.add(call::get(all, "Lists the variables of a project", list).list::<VariableJson<'_>>());
    calls.add(call::post(all, "Creates a variable", create).created::<VariableJson<'_>>());
    let one = "/projects/{id}/variables/{key}";
    calls.add(call::get(one, "Shows a variable", get).ok::<VariableJson<'_>>());
    calls.add(call::put(one, "Updates a variable", update).ok::<VariableJson<'_>>());
    calls.add(call::delete(one, "Removes a variable", delete).ok::<VariableJson<'_>>());
}

parameters! {
    struct NewVariable {
        key: String = declared::text("key", limit::SHORT).needed(),
        value: String = declared::text("value", limit::VARIABLE_VALUE).needed(),
    }
}

parameters! {
    struct Changes {
        value: Option<String> = declared::text("value", limit::VARIABLE_VALUE),
    }
}

async fn list(api: Api, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let page = api.page();
    let found = api.run(move |app, actor, ()| variable::list(app, actor, &named, page)).await?;
    respond::paged(&api, page, found.as_ref().map(VariableJson::from))
}

async fn create(api: Api<NewVariable>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let made = api
        .run(move |app, actor, NewVariable { key, value }| {
            variable::create(app, actor, &named, &key, &value)
        })
        .await?;
    respond::created(VariableJson::from(&made))
}

async fn get(api: Api, ids: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), key) = ids.into_inner();
    let found = api.run(move |app, actor, ()| variable::get(app, actor, &named, &key)).await?;
    respond::ok(VariableJson::from(&found))
}

async fn update(
    api: Api<Changes>,
    ids: web::Path<(ProjectPath, String)>,
) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), key) = ids.into_inner();
    let changed = api
        .run(move |app, actor, Changes { value }| {
            variable::update(app, actor, &named, &key, value.as_deref())
        })
        .await?;
    respond::ok(VariableJson::from(&changed))
}

async fn delete(api: Api, ids: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), key) = ids.into_inner();
    let gone = api.run(move |app, actor, ()| variable::delete(app, actor, &named, &key)).await?;
    respond::ok(VariableJson::from(&gone))
}
