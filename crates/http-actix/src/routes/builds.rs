//! Builds, their logs and artifacts.

use actix_web::http::StatusCode;
use actix_web::http::header::{
    CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::{HttpResponse, web};
use hexforge_application::app::App;
use hexforge_application::build::{self, ArtifactsFile};
use hexforge_application::error::Error;
use hexforge_application::view::build::BuildView;
use hexforge_domain::Timestamp;
use hexforge_domain::ci::status::Status;
use hexforge_domain::id::{BuildId, UserId};
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use super::table::Table;
use super::uploads::send_file;
use crate::api::Api;
use crate::entities::build::BuildJson;
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description};
use crate::params::{Declared, Params};
use crate::respond;

const CONTENT_TRANSFER_ENCODING: HeaderName = HeaderName::from_static("content-transfer-encoding");

/// Adds the routes.
pub fn configure(cfg: &mut Table) {
    cfg.route("/projects/{id}/builds", web::get().to(list));
    cfg.route("/projects/{id}/repository/commits/{sha}/builds", web::get().to(list_of_commit));
    let of_ref = "/projects/{id}/builds/artifacts/{reference:.+}/download";
    cfg.route(of_ref, web::get().to(artifacts_of_ref));
    let one = "/projects/{id}/builds/{build}";
    cfg.route(one, web::get().to(get));
    cfg.route(&format!("{one}/trace"), web::get().to(trace));
    cfg.route(&format!("{one}/artifacts"), web::get().to(artifacts));
    cfg.route(&format!("{one}/artifacts/keep"), web::post().to(keep));
    cfg.route(&format!("{one}/cancel"), web::post().to(cancel));
    cfg.route(&format!("{one}/retry"), web::post().to(retry));
    cfg.route(&format!("{one}/erase"), web::post().to(erase));
    cfg.route(&format!("{one}/play"), web::post().to(play));
}

/// Describes the routes.
pub fn describe(to: &mut Description) {
    to.section("Builds");
    let scope = [doc::some_of("scope", &["pending", "running", "failed", "success", "canceled"])];
    let all = doc::get("/projects/:id/builds", "Builds");
    to.add(all.takes(&scope).list::<BuildJson<'_>>());
    let of_commit = doc::get("/projects/:id/repository/commits/:sha/builds", "Builds of a commit");
    to.add(of_commit.takes(&scope).list::<BuildJson<'_>>());
    let one = "/projects/:id/builds/:build_id";
    to.add(doc::get(one, "A build").ok::<BuildJson<'_>>());
    to.add(doc::get(format!("{one}/trace"), "The log of a build").bytes("text/plain"));
    let octets = "application/octet-stream";
    to.add(doc::get(format!("{one}/artifacts"), "Artifacts of a build").bytes(octets));
    let of_ref = "/projects/:id/builds/artifacts/:ref_name/download";
    let of_ref = doc::get(of_ref, "Artifacts of the last good build of a branch or tag");
    to.add(of_ref.takes(&[doc::text("job", limit::SHORT).needed()]).bytes(octets));
    for (verb, about) in
        [("cancel", "Cancels"), ("retry", "Builds again"), ("erase", "Erases log and artifacts")]
    {
        to.add(doc::post(format!("{one}/{verb}"), about).made::<BuildJson<'_>>());
    }
    let keep = doc::post(format!("{one}/artifacts/keep"), "Keeps artifacts for good");
    to.add(keep.ok::<BuildJson<'_>>());
    to.add(doc::post(format!("{one}/play"), "Starts a manual build").ok::<BuildJson<'_>>());
}

const SCOPES: [Status; 5] =
    [Status::Pending, Status::Running, Status::Failed, Status::Success, Status::Canceled];

fn read_scope(params: &Params) -> ApiResult<Option<Vec<Status>>> {
    let mut declared = params.declared();
    let words = declared.some_of("scope", &SCOPES.map(Status::as_str));
    declared.finish()?;
    Ok(words.map(|words| words.into_iter().filter_map(Status::parse).collect()))
}

async fn list(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), page) = (id.into_inner(), api.page());
    let (found, now) = api
        .run(move |app, actor, params| {
            let scope = read_scope(params)?;
            Ok((build::list(app, actor, &named, scope, page)?, app.clock.now()))
        })
        .await?;
    respond::paged(&api, page, found.as_ref().map(|view| BuildJson::new(view, now, api.links())))
}

async fn list_of_commit(
    api: Api,
    ids: web::Path<(ProjectPath, String)>,
) -> ApiResult<HttpResponse> {
    let ((ProjectPath(named), sha), page) = (ids.into_inner(), api.page());
    let (found, now) = api
        .run(move |app, actor, params| {
            let scope = read_scope(params)?;
            let found = build::list_of_commit(app, actor, &named, &sha, scope, page)?;
            Ok((found, app.clock.now()))
        })
        .await?;
    respond::paged(&api, page, found.as_ref().map(|view| BuildJson::new(view, now, api.links())))
}

/// A build as a path has it.
type BuildPath = web::Path<(ProjectPath, String)>;

/// What is done with one build.
type UseCase<T> = fn(&App, Actor, &ProjectRef, BuildId) -> Result<T, Error>;

fn read_id(mut declared: Declared<'_>, id: &str) -> ApiResult<BuildId> {
    let id = BuildId(declared.path_integer("build_id", id));
    declared.finish()?;
    Ok(id)
}

/// The outcome of a use case about one build.
struct Outcome<T> {
    actor: Actor,
    id: BuildId,
    found: T,
    now: Timestamp,
}

async fn run<T: Send + 'static>(
    api: &Api,
    ids: BuildPath,
    use_case: UseCase<T>,
) -> ApiResult<Outcome<T>> {
    let (ProjectPath(named), id) = ids.into_inner();
    api.run(move |app, actor, params| {
        let id = read_id(params.declared(), &id)?;
        let found = use_case(app, actor, &named, id)?;
        Ok(Outcome { actor, id, found, now: app.clock.now() })
    })
    .await
}

async fn with_one(
    api: Api,
    ids: BuildPath,
    use_case: UseCase<BuildView>,
    status: StatusCode,
) -> ApiResult<HttpResponse> {
    let Outcome { found, now, .. } = run(&api, ids, use_case).await?;
    respond::with(status, BuildJson::new(&found, now, api.links()))
}

async fn get(api: Api, ids: BuildPath) -> ApiResult<HttpResponse> {
    with_one(api, ids, build::get, StatusCode::OK).await
}

async fn cancel(api: Api, ids: BuildPath) -> ApiResult<HttpResponse> {
    with_one(api, ids, build::cancel, StatusCode::CREATED).await
}

async fn retry(api: Api, ids: BuildPath) -> ApiResult<HttpResponse> {
    with_one(api, ids, build::retry, StatusCode::CREATED).await
}

async fn erase(api: Api, ids: BuildPath) -> ApiResult<HttpResponse> {
    with_one(api, ids, build::erase, StatusCode::CREATED).await
}

async fn keep(api: Api, ids: BuildPath) -> ApiResult<HttpResponse> {
    with_one(api, ids, build::keep_artifacts, StatusCode::OK).await
}

async fn play(api: Api, ids: BuildPath) -> ApiResult<HttpResponse> {
    with_one(api, ids, build::play, StatusCode::OK).await
}

async fn trace(api: Api, ids: BuildPath) -> ApiResult<HttpResponse> {
    let Outcome { actor, id, found, .. } = run(&api, ids, build::trace).await?;
    let mut response = HttpResponse::Ok();
    response
        .insert_header((CONTENT_TYPE, "text/plain"))
        .insert_header((CONTENT_DISPOSITION, format!("infile; filename=\"{id}.log\"")))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"));
    send_file(&api, actor.user(), found.content, response).await
}

async fn artifacts(api: Api, ids: BuildPath) -> ApiResult<HttpResponse> {
    let Outcome { actor, found, .. } = run(&api, ids, build::artifacts).await?;
    send(&api, actor.user(), found).await
}

async fn artifacts_of_ref(api: Api, ids: BuildPath) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), reference) = ids.into_inner();
    let (actor, file) = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let job = declared.required_text("job");
            declared.finish()?;
            Ok((actor, build::artifacts_of_ref(app, actor, &named, &reference, &job)?))
        })
        .await?;
    send(&api, actor.user(), file).await
}

/// Sends artifacts for a user. A browser saves them, and runs nothing of them.
pub(super) async fn send(
    api: &Api,
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

/// Names are bare where they can be; what could end one early, or the header, is replaced.
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
