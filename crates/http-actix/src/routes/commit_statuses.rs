//! Commit statuses, set by builds and external services.

use actix_web::{HttpResponse, web};
use hexforge_application::commit_status::{self, NewStatus, StatusQuery};
use hexforge_application::repository::CommitRef;
use hexforge_domain::ci::status::Status;
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::commit_status::CommitStatusJson;
use crate::error::ApiResult;
use crate::params::{declared, parameters, picked};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Statuses of commits");
    let all = "/projects/{id}/repository/commits/{sha}/statuses";
    calls
        .add(call::get(all, "Lists the statuses of a commit", list).list::<CommitStatusJson<'_>>());
    let say = call::post("/projects/{id}/statuses/{sha}", "Sets a status of a commit", post);
    calls.add(say.created::<CommitStatusJson<'_>>());
}

// `all` is read first: if it is wrong, it is reported alone.
parameters!(StatusQuery {
    all: picked::switch_or_false("all").otherwise(false),
    reference: declared::text("ref", limit::REF_NAME).unless_empty(),
    stage: declared::text("stage", limit::SHORT).unless_empty(),
    name: declared::text("name", limit::SHORT).unless_empty(),
});

parameters!(NewStatus {
    state: declared::one_of("state", &["pending", "running", "success", "failed", "canceled"])
        .needed()
        .map(|word| Status::parse(word).unwrap_or(Status::Pending)),
    reference: declared::text("ref", limit::REF_NAME),
    name: declared::text("name", limit::SHORT).or(declared::text("context", limit::SHORT)),
    target_url: declared::text("target_url", limit::URL),
    description: declared::text("description", limit::DESCRIPTION),
});

async fn list(
    api: Api<StatusQuery>,
    ids: web::Path<(ProjectPath, String)>,
) -> ApiResult<HttpResponse> {
    let ((ProjectPath(named), sha), page) = (ids.into_inner(), api.page());
    let found = api
        .run(move |app, actor, wanted| {
            let commit = CommitRef { project: &named, revision: &sha };
            commit_status::list(app, actor, commit, wanted, page)
        })
        .await?;
    let found = found.as_ref().map(|view| CommitStatusJson::new(view, api.links()));
    respond::paged(&api, page, found)
}

async fn post(
    api: Api<NewStatus>,
    ids: web::Path<(ProjectPath, String)>,
) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), sha) = ids.into_inner();
    let said = api
        .run(move |app, actor, word| commit_status::post(app, actor, &named, &sha, word))
        .await?;
    respond::created(CommitStatusJson::new(&said, api.links()))
}
