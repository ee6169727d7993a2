//! Runners bring artifacts and take them.

use actix_web::{HttpRequest, HttpResponse, web};
use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::runner::{self, Assignment};
use hexforge_domain::ci::config::seconds_until_expiry;
use hexforge_domain::id::BuildId;
use hexforge_domain::text::limit;

use super::runner_builds::{build_token, read_id};
use super::{VERSION, builds};
use crate::api::{Api, ApiWithArtifacts};
use crate::entities::runner::AssignmentJson;
use crate::error::{ApiError, ApiResult};
use crate::openapi::{self as doc, Description};
use crate::params::{FilePart, Params};
use crate::respond;

/// Adds the routes.
pub fn configure(cfg: &mut web::ServiceConfig) {
    cfg.route("/builds/{id}/artifacts", web::post().to(receive));
    cfg.route("/builds/{id}/artifacts", web::get().to(send));
    cfg.route("/builds/{id}/artifacts", web::delete().to(remove));
}

/// Describes the routes.
pub fn describe(to: &mut Description) {
    let path = "/ci/api/v1/builds/:id/artifacts";
    let token = doc::text("token", limit::SHORT);
    let receive = doc::post(path, "Takes in artifacts").open().takes_header("BUILD-TOKEN");
    let receive =
        receive.takes(&[token, doc::text("expire_in", limit::SHORT), doc::file("file").needed()]);
    to.add(receive.made::<AssignmentJson<'_>>());
    let send = doc::get(path, "Gives artifacts").open().takes_header("BUILD-TOKEN");
    to.add(send.takes(&[token]).bytes("application/octet-stream"));
    let remove = doc::delete(path, "Removes artifacts").open().takes_header("BUILD-TOKEN");
    to.add(remove.takes(&[token]).yes_or_no());
}

async fn receive(
    call: ApiWithArtifacts,
    request: HttpRequest,
    id: web::Path<String>,
) -> ApiResult<HttpResponse> {
    let (ApiWithArtifacts(api, file), id) = (call, read_id(&id));
    let (token, asked) = (build_token(&request, api.params()), id);
    let shown = token.clone();
    let authorize = move |app: &App, _: &Params| {
        runner::authorize_artifacts(app, asked, &shown).map_err(ApiError::from)
    };
    let user = api.run_for_runner(authorize).await?;
    let file = file.ok_or(Error::NotGiven("Missing artifacts file!"))?;
    let expire_in = read_expiry(api.params())?;
    let _permit = api.permit_of(|limiter| &limiter.uploads, user).await?;
    let given = take_in(&api, id, token, file, expire_in).await?;
    let now = api.run_step(|app| Ok(app.clock.now())).await?;
    let version = (VERSION, api.revision());
    respond::created(AssignmentJson::new(&given, now, api.links(), version))
}

fn read_expiry(params: &Params) -> ApiResult<Option<i64>> {
    match params.text("expire_in")? {
        None => Ok(None),
        Some(text) => match seconds_until_expiry(&text) {
            Some(seconds) => Ok(Some(seconds)),
            None => Err(ApiError::bad_request("expire_in is invalid")),
        },
    }
}

/// Takes in a file block by block. Whatever goes wrong, nothing of it stays.
async fn take_in(
    api: &Api,
    id: BuildId,
    token: String,
    mut file: FilePart,
    expire_in: Option<i64>,
) -> ApiResult<Assignment> {
    let name = file.name().to_owned();
    let begin = api.run_step(move |app| runner::begin_artifacts(app, id, &token, &name));
    let mut receiving = begin.await?;
    while let Some(block) = file.next_block().await? {
        let append = api.run_step(move |_| {
            receiving.append(&block)?;
            Ok(receiving)
        });
        receiving = append.await?;
    }
    // Clients write their parameters before the file or behind it.
    let expire_in = read_expiry(file.behind())?.or(expire_in);
    api.run_step(move |app| receiving.finish(app, expire_in)).await
}

async fn send(api: Api, request: HttpRequest, id: web::Path<String>) -> ApiResult<HttpResponse> {
    let (id, token) = (read_id(&id), build_token(&request, api.params()));
    let (user, file) =
        api.run_for_runner(move |app, _| Ok(runner::open_artifacts(app, id, &token)?)).await?;
    builds::send(&api, user, file).await
}

async fn remove(api: Api, request: HttpRequest, id: web::Path<String>) -> ApiResult<HttpResponse> {
    let (id, token) = (read_id(&id), build_token(&request, api.params()));
    api.run_for_runner(move |app, _| Ok(runner::remove_artifacts(app, id, &token)?)).await?;
    respond::ok(true)
}
