//! Runners upload, download and remove artifacts.

use std::collections::HashMap;

use actix_web::{HttpRequest, HttpResponse, web};
use hexforge_application::error::Error;
use hexforge_application::runner::{self, Assignment};
use hexforge_domain::ci::config::seconds_until_expiry;
use hexforge_domain::id::BuildId;
use hexforge_domain::text::limit;

use super::runner_builds::{build_token, read_id};
use super::{VERSION, builds};
use crate::api::{Api, ApiRequest, ApiWithArtifacts, ApiWithFile};
use crate::call::{self, Calls};
use crate::entities::runner::AssignmentJson;
use crate::error::{ApiError, ApiResult};
use crate::params::{FilePart, parameters, picked};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    let path = "/ci/api/v1/builds/{id}/artifacts";
    let receive = call::post(path, "Uploads the artifacts of a build", receive);
    calls
        .add(receive.without_sign_in().takes_header("BUILD-TOKEN").created::<AssignmentJson<'_>>());
    let send = call::get(path, "Downloads the artifacts of a build", send);
    calls.add(send.without_sign_in().takes_header("BUILD-TOKEN").bytes("application/octet-stream"));
    let remove = call::delete(path, "Removes the artifacts of a build", remove);
    calls.add(remove.without_sign_in().takes_header("BUILD-TOKEN").boolean());
}

parameters! {
    struct Token {
        token: Option<String> = picked::any_text("token", limit::SHORT),
    }
}

parameters! {
    /// How long artifacts are kept. Reading it never fails, because the token is checked before it.
    struct Expiry {
        expire_in: Option<String> = picked::any_text("expire_in", limit::SHORT),
    }
}

impl Expiry {
    fn seconds(self) -> ApiResult<Option<i64>> {
        match self.expire_in {
            None => Ok(None),
            Some(text) => match seconds_until_expiry(&text) {
                Some(seconds) => Ok(Some(seconds)),
                None => Err(ApiError::bad_request("expire_in is invalid")),
            },
        }
    }
}

async fn receive(
    call: ApiWithArtifacts<(Token, Expiry)>,
    request: HttpRequest,
    id: web::Path<String>,
) -> ApiResult<HttpResponse> {
    let (ApiWithFile(api, file), id) = (call, read_id(&id));
    let (Token { token }, expiry) = api.read()?;
    let token = build_token(&request, token);
    let checked_token = token.clone();
    let user = api
        .run_for_runner(token.clone(), move |app, _| {
            runner::authorize_artifacts(app, id, &checked_token)
        })
        .await?;
    let file = file.ok_or(Error::NotGiven("Missing artifacts file!"))?;
    let expire_in = expiry.seconds()?;
    let _permit = api.permit_of(|limiter| &limiter.uploads, user).await?;
    let given = receive_file(&api, id, token, file, expire_in).await?;
    let now = api.run_step(|app| Ok(app.clock.now())).await?;
    let version = (VERSION, api.revision());
    respond::created(AssignmentJson::new(&given, now, api.links(), version))
}

/// Receives a file block by block. After an error, no part of it stays.
async fn receive_file(
    api: &ApiRequest,
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
    // Clients send their parameters before or after the file.
    let behind: Expiry = file.params_after().read_declared(&HashMap::new(), api.dialect())?;
    let expire_in = behind.seconds()?.or(expire_in);
    api.run_step(move |app| receiving.finish(app, expire_in)).await
}

async fn send(
    api: Api<Token>,
    request: HttpRequest,
    id: web::Path<String>,
) -> ApiResult<HttpResponse> {
    let (id, token) = (read_id(&id), build_token(&request, api.read()?.token));
    let (user, file) = api
        .run_for_runner(token.clone(), move |app, _| runner::open_artifacts(app, id, &token))
        .await?;
    builds::send_artifacts(&api, user, file).await
}

async fn remove(
    api: Api<Token>,
    request: HttpRequest,
    id: web::Path<String>,
) -> ApiResult<HttpResponse> {
    let (id, token) = (read_id(&id), build_token(&request, api.read()?.token));
    api.run_for_runner(token.clone(), move |app, _| runner::remove_artifacts(app, id, &token))
        .await?;
    respond::ok(true)
}
