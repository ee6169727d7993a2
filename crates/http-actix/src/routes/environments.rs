//! Environments of projects.

use actix_web::HttpResponse;
use hexforge_application::environment::{self, EnvironmentFields, EnvironmentView};
use hexforge_domain::id::EnvironmentId;
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::environment::EnvironmentJson;
use crate::error::ApiResult;
use crate::params::{declared, parameters};
use crate::respond;
use hexforge_http_edge::links::Links;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Environments");
    let all = "/projects/{id}/environments";
    let list = call::get(all, "Lists the environments of a project", list);
    calls.add(list.list::<EnvironmentJson<'_>>());
    calls.add(call::post(all, "Creates an environment", create).created::<EnvironmentJson<'_>>());
    let one = "/projects/{id}/environments/{environment_id}";
    calls.add(call::put(one, "Updates an environment", update).ok::<EnvironmentJson<'_>>());
    calls.add(call::delete(one, "Removes an environment", delete).ok::<EnvironmentJson<'_>>());
}

parameters! {
    struct InPath {
        id: EnvironmentId = declared::in_path("environment_id").map(EnvironmentId),
    }
}

parameters! {
    struct NewEnvironment {
        name: String = declared::text("name", limit::SHORT).needed(),
        external_url: Option<String> = declared::text("external_url", limit::SHORT),
    }
}

parameters!(EnvironmentFields {
    name: declared::text("name", limit::SHORT),
    external_url: declared::text("external_url", limit::SHORT).or_cleared(),
});

fn json<'a>(view: &'a EnvironmentView, links: &Links) -> EnvironmentJson<'a> {
    EnvironmentJson::new(&view.environment, &view.project, links)
}

async fn list(api: Api, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let page = api.page();
    let found = api.run(move |app, actor, ()| environment::list(app, actor, &named, page)).await?;
    let show = |one| EnvironmentJson::new(one, &found.project, api.links());
    respond::paged(&api, page, found.environments.as_ref().map(show))
}

async fn create(
    api: Api<NewEnvironment>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let made = api
        .run(move |app, actor, NewEnvironment { name, external_url }| {
            let fields = EnvironmentFields { name: Some(name), external_url: Some(external_url) };
            environment::create(app, actor, &named, &fields)
        })
        .await?;
    respond::created(json(&made, api.links()))
}

async fn update(
    api: Api<(InPath, EnvironmentFields)>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let changed = api
        .run(move |app, actor, (InPath { id }, fields)| {
            environment::update(app, actor, &named, id, &fields)
        })
        .await?;
    respond::ok(json(&changed, api.links()))
}

async fn delete(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let gone = api
        .run(move |app, actor, InPath { id }| environment::delete(app, actor, &named, id))
        .await?;
    respond::ok(json(&gone, api.links()))
}
