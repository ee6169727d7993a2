//! Pipelines.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::pipeline::{self, PipelineView};
use hexforge_domain::id::PipelineId;
use hexforge_domain::pipeline::PipelineScope;
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use super::table::Table;
use crate::api::Api;
use crate::entities::pipeline::PipelineJson;
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description};
use crate::respond;

/// Adds the routes.
pub fn configure(cfg: &mut Table) {
    cfg.route("/projects/{id}/pipelines", web::get().to(list));
    cfg.route("/projects/{id}/pipeline", web::post().to(create));
    let one = "/projects/{id}/pipelines/{pipeline}";
    cfg.route(one, web::get().to(get));
    cfg.route(&format!("{one}/retry"), web::post().to(retry));
    cfg.route(&format!("{one}/cancel"), web::post().to(cancel));
}

/// Describes the routes.
pub fn describe(to: &mut Description) {
    to.section("Pipelines");
    let scope = [doc::one_of("scope", &["running", "branches", "tags"])];
    let list = doc::get("/projects/:id/pipelines", "Pipelines");
    to.add(list.takes(&scope).list::<PipelineJson<'_>>());
    let create = doc::post("/projects/:id/pipeline", "Makes a pipeline");
    to.add(create.takes(&[doc::text("ref", limit::REF_NAME).needed()]).made::<PipelineJson<'_>>());
    let one = "/projects/:id/pipelines/:pipeline_id";
    to.add(doc::get(one, "A pipeline").ok::<PipelineJson<'_>>());
    to.add(
        doc::post(format!("{one}/retry"), "Builds again what failed").made::<PipelineJson<'_>>(),
    );
    to.add(doc::post(format!("{one}/cancel"), "Cancels").ok::<PipelineJson<'_>>());
}

const SCOPES: [(&str, PipelineScope); 3] = [
    ("running", PipelineScope::Active),
    ("branches", PipelineScope::Branches),
    ("tags", PipelineScope::Tags),
];

async fn list(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), page) = (id.into_inner(), api.page());
    let found = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let scope = declared.one_of("scope", &SCOPES.map(|(word, _)| word));
            declared.finish()?;
            let scope = SCOPES.into_iter().find(|(word, _)| Some(*word) == scope);
            let scope = scope.map_or(PipelineScope::All, |(_, scope)| scope);
            Ok(pipeline::list(app, actor, &named, scope, page)?)
        })
        .await?;
    let found = found.as_ref().map(|view| PipelineJson::new(view, api.links()));
    respond::paged(&api, page, found)
}

async fn create(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let ProjectPath(named) = id.into_inner();
    let made = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let reference = declared.required_text("ref");
            declared.finish()?;
            Ok(pipeline::create(app, actor, &named, &reference)?)
        })
        .await?;
    respond::created(PipelineJson::new(&made, api.links()))
}

/// A pipeline as a path has it.
type PipelinePath = web::Path<(ProjectPath, String)>;

/// What is done with one pipeline.
type UseCase = fn(&App, Actor, &ProjectRef, PipelineId) -> Result<PipelineView, Error>;

async fn get(api: Api, ids: PipelinePath) -> ApiResult<HttpResponse> {
    with_one(api, ids, pipeline::get, StatusCode::OK).await
}

async fn retry(api: Api, ids: PipelinePath) -> ApiResult<HttpResponse> {
    with_one(api, ids, pipeline::retry, StatusCode::CREATED).await
}

async fn cancel(api: Api, ids: PipelinePath) -> ApiResult<HttpResponse> {
    with_one(api, ids, pipeline::cancel, StatusCode::OK).await
}

async fn with_one(
    api: Api,
    ids: PipelinePath,
    use_case: UseCase,
    status: StatusCode,
) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), id) = ids.into_inner();
    let view = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let id = PipelineId(declared.path_integer("pipeline_id", &id));
            declared.finish()?;
            Ok(use_case(app, actor, &named, id)?)
        })
        .await?;
    respond::with(status, PipelineJson::new(&view, api.links()))
}
