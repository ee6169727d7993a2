//! Deployments of projects.

use actix_web::HttpResponse;
use hexforge_application::deployment;
use hexforge_domain::id::DeploymentId;

use super::ids::ProjectPath;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::deployment::DeploymentJson;
use crate::error::ApiResult;
use crate::params::{declared, parameters};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Deployments");
    let all = "/projects/{id}/deployments";
    let list = call::get(all, "Lists the deployments of a project", list);
    calls.add(list.list::<DeploymentJson<'_>>());
    let one = call::get("/projects/{id}/deployments/{deployment_id}", "Shows a deployment", get);
    calls.add(one.ok::<DeploymentJson<'_>>());
}

parameters! {
    struct InPath {
        id: DeploymentId = declared::in_path("deployment_id").map(DeploymentId),
    }
}

async fn list(api: Api, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let page = api.page();
    let (found, now) = api
        .run(move |app, actor, ()| {
            let found = deployment::list(app, actor, &named, page);
            found.map(|found| (found, app.clock.now()))
        })
        .await?;
    let show = |view| DeploymentJson::new(view, now, api.links());
    respond::paged(&api, page, found.as_ref().map(show))
}

async fn get(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let (found, now) = api
        .run(move |app, actor, InPath { id }| {
            let found = deployment::get(app, actor, &named, id);
            found.map(|found| (found, app.clock.now()))
        })
        .await?;
    respond::ok(DeploymentJson::new(&found, now, api.links()))
}
