//! What builds and others say of commits.

use actix_web::{HttpResponse, web};
use hexforge_application::commit_status::{self, Wanted, Word};
use hexforge_domain::ci::status::Status;
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use super::table::Table;
use crate::api::Api;
use crate::entities::commit_status::CommitStatusJson;
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description};
use crate::respond;

/// Adds the routes.
pub fn configure(cfg: &mut Table) {
    cfg.route("/projects/{id}/repository/commits/{sha}/statuses", web::get().to(list));
    cfg.route("/projects/{id}/statuses/{sha}", web::post().to(post));
}

/// Describes the routes.
pub fn describe(to: &mut Description) {
    to.section("Statuses of commits");
    let filter = [
        doc::text("ref", limit::REF_NAME),
        doc::text("stage", limit::SHORT),
        doc::text("name", limit::SHORT),
        doc::boolean("all"),
    ];
    let all = doc::get("/projects/:id/repository/commits/:sha/statuses", "Statuses of a commit");
    to.add(all.takes(&filter).list::<CommitStatusJson<'_>>());
    let states = &["pending", "running", "success", "failed", "canceled"];
    let fields = [
        doc::one_of("state", states).needed(),
        doc::text("ref", limit::REF_NAME),
        doc::text("name", limit::SHORT),
        doc::text("context", limit::SHORT),
        doc::text("target_url", limit::URL),
        doc::text("description", limit::DESCRIPTION),
    ];
    let say = doc::post("/projects/:id/statuses/:sha", "Says something of a commit");
    to.add(say.takes(&fields).made::<CommitStatusJson<'_>>());
}

async fn list(api: Api, ids: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let ((ProjectPath(named), sha), page) = (ids.into_inner(), api.page());
    let found = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let mut text = |name: &str| declared.text(name).filter(|text| !text.is_empty());
            let wanted = Wanted {
                reference: text("ref"),
                stage: text("stage"),
                name: text("name"),
                all: params.said_switch("all")?.unwrap_or(false),
            };
            declared.finish()?;
            Ok(commit_status::list(app, actor, &named, &sha, wanted, page)?)
        })
        .await?;
    let found = found.as_ref().map(|view| CommitStatusJson::new(view, api.links()));
    respond::paged(&api, page, found)
}

const STATES: [Status; 5] =
    [Status::Pending, Status::Running, Status::Success, Status::Failed, Status::Canceled];

async fn post(api: Api, ids: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), sha) = ids.into_inner();
    let said = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            declared.require("state");
            let state = declared.one_of("state", &STATES.map(Status::as_str));
            let (reference, name) = (declared.text("ref"), declared.text("name"));
            let context = declared.text("context");
            let word = Word {
                state: state.and_then(Status::parse).unwrap_or(Status::Pending),
                reference,
                name: name.or(context),
                target_url: declared.text("target_url"),
                description: declared.text("description"),
            };
            declared.finish()?;
            Ok(commit_status::post(app, actor, &named, &sha, word)?)
        })
        .await?;
    respond::created(CommitStatusJson::new(&said, api.links()))
}
