//! Builds, their logs and artifacts.

use actix_web::http::StatusCode;
use actix_web::http::header::{
    CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::{HttpResponse, web};
use hexforge_application::app::App;
use hexforge_application::build::{self, ArtifactsFile};
use hexforge_application::error::Error;
use hexforge_application::repository::CommitRef;
use hexforge_application::view::build::BuildView;
use hexforge_domain::Timestamp;
use hexforge_domain::ci::status::Status;
use hexforge_domain::id::{BuildId, UserId};
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use super::uploads::send_file;
use crate::api::{Api, ApiRequest};
use crate::call::{self, Calls};
use crate::entities::build::BuildJson;
use crate::error::ApiResult;
use crate::params::{declared, parameters};
use crate::respond;

const CONTENT_TRANSFER_ENCODING: HeaderName = HeaderName::from_static("content-transfer-encoding");

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Builds");
    calls.add(
        call::get("/projects/{id}/builds", "Lists the builds of a project", list)
            .list::<BuildJson<'_>>(),
    );
    let of_commit = "/projects/{id}/repository/commits/{sha}/builds";
    let of_commit = call::get(of_commit, "Lists the builds of a commit", list_of_commit);
    calls.add(of_commit.list::<BuildJson<'_>>());
    let one = "/projects/{id}/builds/{build_id}";
    calls.add(call::get(one, "Shows a build", get).ok::<BuildJson<'_>>());
    let trace = call::get(format!("{one}/trace"), "Downloads the log of a build", trace);
    calls.add(trace.bytes("text/plain"));
    let octets = "application/octet-stream";
    let about = "Downloads the artifacts of the last successful build of a branch or tag";
    let of_ref = "/projects/{id}/builds/artifacts/{ref_name:.+}/download";
    calls.add(call::get(of_ref, about, artifacts_of_ref).bytes(octets));
    let artifacts =
        call::get(format!("{one}/artifacts"), "Downloads the artifacts of a build", artifacts);
    calls.add(artifacts.bytes(octets));
    let cancel = call::post(format!("{one}/cancel"), "Cancels a build", cancel);
    calls.add(cancel.created::<BuildJson<'_>>());
    let retry = call::post(format!("{one}/retry"), "Retries a build", retry);
    calls.add(retry.created::<BuildJson<'_>>());
    let erase =
        call::post(format!("{one}/erase"), "Erases the log and the artifacts of a build", erase);
    calls.add(erase.created::<BuildJson<'_>>());
    let keep = call::post(
        format!("{one}/artifacts/keep"),
        "Prevents the artifacts of a build from expiring",
        keep,
    );
    calls.add(keep.ok::<BuildJson<'_>>());
    let play = call::post(format!("{one}/play"), "Starts a manual build", play);
    calls.add(play.ok::<BuildJson<'_>>());
}

parameters! {
    struct Scope {
        statuses: Option<Vec<Status>> =
            declared::several_of("scope", &["pending", "running", "failed", "success", "canceled"])
                .map_given(statuses),
    }
}

fn statuses(words: Vec<&str>) -> Vec<Status> {
    words.into_iter().filter_map(Status::parse).collect()
}

parameters! {
    struct InPath {
        id: BuildId = declared::in_path("build_id").map(BuildId),
    }
}

parameters! {
    struct OfJob {
        job: String = declared::text("job", limit::SHORT).needed(),
    }
}

async fn list(api: Api<Scope>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let page = api.page();
    let (found, now) = api
        .run(move |app, actor, Scope { statuses }| {
            let found = build::list(app, actor, &named, statuses, page);
            found.map(|found| (found, app.clock.now()))
        })
        .await?;
    respond::paged(&api, page, found.as_ref().map(|view| BuildJson::new(view, now, api.links())))
}

async fn list_of_commit(
    api: Api<Scope>,
    ids: web::Path<(ProjectPath, String)>,
) -> ApiResult<HttpResponse> {
    let ((ProjectPath(named), sha), page) = (ids.into_inner(), api.page());
    let (found, now) = api
        .run(move |app, actor, Scope { statuses }| {
            let commit = CommitRef { project: &named, revision: &sha };
            let found = build::list_of_commit(app, actor, commit, statuses, page);
            found.map(|found| (found, app.clock.now()))
        })
        .await?;
    respond::paged(&api, page, found.as_ref().map(|view| BuildJson::new(view, now, api.links())))
}

/// A use case on one build.
type UseCase<T> = fn(&App, Actor, &ProjectRef, BuildId) -> Result<T, Error>;

/// The outcome of a use case on one build.
struct Outcome<T> {
    actor: Actor,
    id: BuildId,
    found: T,
    now: Timestamp,
}

async fn run_on_build<T: Send + 'static>(
    api: &Api<InPath>,
    named: ProjectRef,
    use_case: UseCase<T>,
) -> ApiResult<Outcome<T>> {
    api.run(move |app, actor, InPath { id }| {
        let found = use_case(app, actor, &named, id);
        found.map(|found| Outcome { actor, id, found, now: app.clock.now() })
    })
    .await
}

async fn respond_with_build(
    api: Api<InPath>,
    named: ProjectRef,
    use_case: UseCase<BuildView>,
    status: StatusCode,
) -> ApiResult<HttpResponse> {
    let Outcome { found, now, .. } = run_on_build(&api, named, use_case).await?;
    respond::with(status, BuildJson::new(&found, now, api.links()))
}

async fn get(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    respond_with_build(api, named, build::get, StatusCode::OK).await
}

async fn cancel(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    respond_with_build(api, named, build::cancel, StatusCode::CREATED).await
}

async fn retry(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    respond_with_build(api, named, build::retry, StatusCode::CREATED).await
}

async fn erase(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    respond_with_build(api, named, build::erase, StatusCode::CREATED).await
}

async fn keep(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    respond_with_build(api, named, build::keep_artifacts, StatusCode::OK).await
}

async fn play(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    respond_with_build(api, named, build::play, StatusCode::OK).await
}

async fn trace(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let Outcome { actor, id, found, .. } = run_on_build(&api, named, build::trace).await?;
    let mut response = HttpResponse::Ok();
    response
        .insert_header((CONTENT_TYPE, "text/plain"))
        .insert_header((CONTENT_DISPOSITION, format!("infile; filename=\"{id}.log\"")))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"));
    send_file(&api, actor.user(), found.content, response).await
}

async fn artifacts(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let Outcome { actor, found, .. } = run_on_build(&api, named, build::artifacts).await?;
    send_artifacts(&api, actor.user(), found).await
}

async fn artifacts_of_ref(
    api: Api<OfJob>,
    path: web::Path<(ProjectPath, String)>,
) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), reference) = path.into_inner();
    let (actor, file) = api
        .run(move |app, actor, OfJob { job }| {
            let file = build::artifacts_of_ref(app, actor, &named, &reference, &job);
            file.map(|file| (actor, file))
        })
        .await?;
    send_artifacts(&api, actor.user(), file).await
}

/// Sends artifacts to a user. The headers make browsers save the file and never run it.
pub(super) async fn send_artifacts(
    api: &ApiRequest,
    user: Option<UserId>,
    file: ArtifactsFile,
) -> ApiResult<HttpResponse> {
    let mut response = HttpResponse::Ok();
    response
        .insert_header((CONTENT_TYPE, "application/octet-stream"))
        .insert_header((CONTENT_DISPOSITION, attachment(&file.name)))
        .insert_header((CONTENT_TRANSFER_ENCODING, "binary"))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"));
    send_file(api, user, file.content, response).await
}

/// Returns the `Content-Disposition` of a file to be saved. Characters that need quotes are replaced, so that a name
/// cannot end the header early.
fn attachment(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+' | '~');
    let name: String = name.chars().map(|c| if plain(c) { c } else { '_' }).collect();
    format!("attachment; filename={name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_end_its_header() {
        for (name, expected) in [
            ("artifacts.zip", "attachment; filename=artifacts.zip"),
            ("a b\".zip\r\nX: y", "attachment; filename=a_b_.zip__X__y"),
        ] {
            assert_eq!(attachment(name), expected);
        }
    }
}
