//! Triggers of projects, and the pipelines that they start.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use hexforge_application::trigger;
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::trigger::{TriggerJson, TriggeredJson};
use crate::error::{ApiError, ApiResult};
use crate::params::{declared, parameters};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Triggers");
    let all = "/projects/{id}/triggers";
    calls.add(call::get(all, "Lists the triggers of a project", list).list::<TriggerJson<'_>>());
    calls.add(call::post(all, "Creates a trigger", create).created::<TriggerJson<'_>>());
    let one = "/projects/{id}/triggers/{token}";
    calls.add(call::get(one, "Shows a trigger", get).ok::<TriggerJson<'_>>());
    calls.add(call::delete(one, "Removes a trigger", delete).ok::<TriggerJson<'_>>());
    let start = call::post(
        "/projects/{id}/trigger/builds",
        "Starts a pipeline by the token of a trigger",
        start,
    )
    .without_sign_in();
    calls.add(start.created::<TriggeredJson>());
    // Made for the hooks of other projects: the payload of a push has a `ref` of its own.
    let start = call::post(
        "/projects/{id}/ref/{reference}/trigger/builds",
        "Starts a pipeline for the ref in the path by the token of a trigger",
        start_for_reference,
    )
    .without_sign_in();
    calls.add(start.created::<TriggeredJson>());
}

parameters! {
    struct Start {
        token: String = declared::text("token", limit::SHORT).needed(),
        reference: String = declared::text("ref", limit::REF_NAME).needed(),
        variables: Option<Vec<(String, String)>> =
            declared::text_map("variables", limit::VARIABLE_VALUE),
    }
}

parameters! {
    struct StartForReference {
        token: String = declared::text("token", limit::SHORT).needed(),
        variables: Option<Vec<(String, String)>> =
            declared::text_map("variables", limit::VARIABLE_VALUE),
    }
}

async fn list(api: Api, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let page = api.page();
    let found = api.run(move |app, actor, ()| trigger::list(app, actor, &named, page)).await?;
    respond::paged(&api, page, found.as_ref().map(TriggerJson::from))
}

async fn create(api: Api, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let made = api.run(move |app, actor, ()| trigger::create(app, actor, &named)).await?;
    respond::created(TriggerJson::from(&made))
}

async fn get(api: Api, ids: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), token) = ids.into_inner();
    let found = api.run(move |app, actor, ()| trigger::get(app, actor, &named, &token)).await?;
    respond::ok(TriggerJson::from(&found))
}

async fn delete(api: Api, ids: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), token) = ids.into_inner();
    let gone = api.run(move |app, actor, ()| trigger::delete(app, actor, &named, &token)).await?;
    respond::ok(TriggerJson::from(&gone))
}

/// The token of the trigger is the only credential, so the caller need not be signed in.
async fn start(api: Api<Start>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let Start { token, reference, variables } = api.read()?;
    let variables = require_variables(variables)?;
    let started =
        api.run_step(move |app| trigger::start(app, &named, &token, &reference, variables));
    respond::created(TriggeredJson::from(started.await?))
}

/// Like [`start`]; the ref in the path wins over one in the parameters.
async fn start_for_reference(
    api: Api<StartForReference>,
    path: web::Path<(ProjectPath, String)>,
) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), reference) = path.into_inner();
    let StartForReference { token, variables } = api.read()?;
    let variables = require_variables(variables)?;
    let started =
        api.run_step(move |app| trigger::start(app, &named, &token, &reference, variables));
    respond::created(TriggeredJson::from(started.await?))
}

fn require_variables(variables: Option<Vec<(String, String)>>) -> ApiResult<Vec<(String, String)>> {
    variables.ok_or_else(|| {
        let text = "variables needs to be a map of key-valued strings";
        ApiError::message(StatusCode::BAD_REQUEST, text)
    })
}
