//! Commits: lists, single commits, their diffs, new commits and cherry-picks. Permission to read the code is checked
//! before the parameters.

use actix_web::http::header::ContentType;
use actix_web::{HttpResponse, web};
use hexforge_application::commit::{self, AuthorFields, NewCommit, pick};
use hexforge_application::error::{Entity, Error};
use hexforge_application::repository::commits::{self, CommitFilter};
use hexforge_application::repository::{self, CommitRef};
use hexforge_domain::Timestamp;
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::commit::{CommitDetailJson, CommitJson};
use crate::entities::repository::CommitDiffJson;
use crate::error::ApiResult;
use crate::params::{declared, nested, parameters, picked};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Commits");
    let all = "/projects/{id}/repository/commits";
    let list = call::get(all, "Lists the commits of a revision, newest first", list);
    calls.add(list.whole_list::<CommitJson>().paged_from_zero());
    let create = call::post(all, "Adds a commit of several actions to a branch", create);
    calls.add(create.created::<CommitDetailJson>());
    let one = "/projects/{id}/repository/commits/{sha}";
    calls.add(call::get(one, "Shows a commit", get).ok::<CommitDetailJson>());
    let diff = call::get(format!("{one}/diff"), "Shows the diff of a commit", diff);
    calls.add(diff.whole_list::<CommitDiffJson<'_>>());
    let about = "Applies the change of a commit to a branch";
    let pick = call::post(format!("{one}/cherry_pick"), about, cherry_pick);
    calls.add(pick.created::<CommitJson>());
}

parameters! {
    struct Wanted {
        revision: Option<String> = picked::text("ref_name", limit::REF_NAME),
        path: Option<String> = picked::text("path", limit::LOOKUP),
        since: Option<Timestamp> = picked::timestamp("since"),
        until: Option<Timestamp> = picked::timestamp("until"),
    }
}

parameters!(AuthorFields {
    email: declared::content("author_email", limit::SHORT),
    name: declared::content("author_name", limit::SHORT),
});

parameters!(NewCommit {
    branch: declared::content("branch_name", limit::REF_NAME).needed(),
    message: declared::text("commit_message", limit::LONG).needed(),
    actions: declared::actions("actions").needed(),
    author: nested::<AuthorFields>(),
});

parameters! {
    struct Onto {
        branch: String = declared::content("branch", limit::REF_NAME).needed(),
    }
}

async fn list(api: Api<Wanted>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let ((skip, size), address) = (api.page_from_zero(), api.peer());
    let (actor, found) = api
        .run_unread(move |app, actor, unread| {
            let project = repository::readable(app, actor, address, &named)?;
            let Wanted { revision, path, since, until } = unread.read()?;
            let at = repository::revision_or_default(app, &project, revision.as_deref())?;
            let limit = usize::try_from(size).unwrap_or_default();
            Ok((actor, at.map(|at| (at, CommitFilter { path, since, until, skip, limit }))))
        })
        .await?;
    let Some((at, filter)) = found else { return respond::ok(Vec::<CommitJson>::new()) };
    let permit = api.permit(|limiter| &limiter.comparisons, actor).await?;
    let json = move || {
        let commits = commits::list(&at, filter)?;
        respond::to_json(&commits.iter().map(CommitJson::from).collect::<Vec<_>>())
    };
    let json = api.run_permitted(permit, json).await?;
    Ok(HttpResponse::Ok().content_type(ContentType::json()).body(json))
}

async fn get(api: Api, path: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let ((ProjectPath(named), sha), address) = (path.into_inner(), api.peer());
    let (actor, at, status) = api
        .run_unread(move |app, actor, _| {
            let project = repository::readable(app, actor, address, &named)?;
            let at = repository::revision(app, &project, &sha)?;
            let at = at.ok_or(Error::NotFound(Entity::Commit))?;
            let status = commits::status(app, &project, &at)?;
            Ok((actor, at, status))
        })
        .await?;
    let permit = api.permit(|limiter| &limiter.comparisons, actor).await?;
    let view = api.run_permitted(permit, move || Ok(commits::get(&at, status)?)).await?;
    respond::ok(CommitDetailJson::from(&view))
}

async fn diff(api: Api, path: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let ((ProjectPath(named), sha), address) = (path.into_inner(), api.peer());
    let (actor, at) = api
        .run_unread(move |app, actor, _| {
            let project = repository::readable(app, actor, address, &named)?;
            let at = repository::revision(app, &project, &sha)?;
            Ok((actor, at.ok_or(Error::NotFound(Entity::Commit))?))
        })
        .await?;
    let permit = api.permit(|limiter| &limiter.comparisons, actor).await?;
    let json = move || {
        let diffs = commits::diff(&at)?;
        respond::to_json(&diffs.iter().map(CommitDiffJson::from).collect::<Vec<_>>())
    };
    let json = api.run_permitted(permit, json).await?;
    Ok(HttpResponse::Ok().content_type(ContentType::json()).body(json))
}

async fn create(api: Api<NewCommit>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let made = api
        .run_unread(move |app, actor, unread| {
            repository::authorize(app, actor, &named)?;
            Ok(commit::create(app, actor, &named, unread.read()?)?)
        })
        .await?;
    respond::created(CommitDetailJson::from(&made))
}

async fn cherry_pick(
    api: Api<Onto>,
    path: web::Path<(ProjectPath, String)>,
) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), sha) = path.into_inner();
    let made = api
        .run_unread(move |app, actor, unread| {
            repository::authorize(app, actor, &named)?;
            let Onto { branch } = unread.read()?;
            let commit = CommitRef { project: &named, revision: &sha };
            Ok(pick::cherry_pick(app, actor, commit, &branch)?)
        })
        .await?;
    respond::created(CommitJson::from(&made))
}
