//! Pipelines.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::pipeline::{self, PipelineView};
use hexforge_domain::id::PipelineId;
use hexforge_domain::pipeline::PipelineScope;
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::pipeline::PipelineJson;
use crate::error::ApiResult;
use crate::params::{declared, parameters};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Pipelines");
    let list = call::get("/projects/{id}/pipelines", "Lists the pipelines of a project", list);
    calls.add(list.list::<PipelineJson<'_>>());
    let create = call::post("/projects/{id}/pipeline", "Creates a pipeline", create);
    calls.add(create.created::<PipelineJson<'_>>());
    let one = "/projects/{id}/pipelines/{pipeline_id}";
    calls.add(call::get(one, "Shows a pipeline", get).ok::<PipelineJson<'_>>());
    let retry =
        call::post(format!("{one}/retry"), "Retries the failed builds of a pipeline", retry);
    calls.add(retry.created::<PipelineJson<'_>>());
    let cancel = call::post(format!("{one}/cancel"), "Cancels the builds of a pipeline", cancel);
    calls.add(cancel.ok::<PipelineJson<'_>>());
}

parameters! {
    struct Listing {
        scope: PipelineScope =
            declared::one_of("scope", &["running", "branches", "tags"]).map(scope),
    }
}

fn scope(word: Option<&str>) -> PipelineScope {
    match word {
        Some("running") => PipelineScope::Active,
        Some("branches") => PipelineScope::Branches,
        Some("tags") => PipelineScope::Tags,
        _ => PipelineScope::All,
    }
}

parameters! {
    struct OfRef {
        reference: String = declared::text("ref", limit::REF_NAME).needed(),
    }
}

parameters! {
    struct InPath {
        id: PipelineId = declared::in_path("pipeline_id").map(PipelineId),
    }
}

async fn list(api: Api<Listing>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let page = api.page();
    let found = api
        .run(move |app, actor, Listing { scope }| pipeline::list(app, actor, &named, scope, page))
        .await?;
    let found = found.as_ref().map(|view| PipelineJson::new(view, api.links()));
    respond::paged(&api, page, found)
}

async fn create(api: Api<OfRef>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let made = api
        .run(move |app, actor, OfRef { reference }| {
            pipeline::create(app, actor, &named, &reference)
        })
        .await?;
    respond::created(PipelineJson::new(&made, api.links()))
}

/// A use case on one pipeline.
type UseCase = fn(&App, Actor, &ProjectRef, PipelineId) -> Result<PipelineView, Error>;

async fn get(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    respond_with_pipeline(api, named, pipeline::get, StatusCode::OK).await
}

async fn retry(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    respond_with_pipeline(api, named, pipeline::retry, StatusCode::CREATED).await
}

async fn cancel(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    respond_with_pipeline(api, named, pipeline::cancel, StatusCode::OK).await
}

async fn respond_with_pipeline(
    api: Api<InPath>,
    named: ProjectRef,
    use_case: UseCase,
    status: StatusCode,
) -> ApiResult<HttpResponse> {
    let view = api.run(move |app, actor, InPath { id }| use_case(app, actor, &named, id)).await?;
    respond::with(status, PipelineJson::new(&view, api.links()))
}
