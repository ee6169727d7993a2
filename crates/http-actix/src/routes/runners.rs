//! Runners register, and remove themselves.

use actix_web::HttpResponse;
use hexforge_application::runner::{self, Registration};
use hexforge_domain::build::Tags;
use hexforge_domain::runner::RunnerInfo;
use hexforge_domain::text::limit;

use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::runner::RegisteredJson;
use crate::error::ApiResult;
use crate::params::{parameters, picked};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("For runners");
    let register = call::post("/ci/api/v1/runners/register", "Registers a runner", register);
    let register = register.also_at("/ci/api/v1/runners/register.json").without_sign_in();
    calls.add(register.created::<RegisteredJson>());
    let gone = call::delete("/ci/api/v1/runners/delete", "Removes a runner", delete);
    calls.add(gone.also_at("/ci/api/v1/runners/delete.json").without_sign_in().boolean());
}

parameters! {
    struct Token {
        token: String = picked::needed_text("token", limit::SHORT),
    }
}

parameters!(Registration {
    description: picked::text("description", limit::SHORT).otherwise(String::new()),
    tags: picked::words("tag_list", limit::SHORT).map(Tags::from_iter),
    run_untagged: picked::switch("run_untagged").otherwise(true),
    locked: picked::switch("locked").otherwise(false),
    info: picked::lenient_text_map("info", limit::SHORT)
        .map(|given| info(given).unwrap_or_default()),
});

/// The properties that a runner reports, such as its version. Each is read by itself: real runners also report their
/// features, as an object.
pub(super) fn info(given: Vec<(String, String)>) -> Option<RunnerInfo> {
    if given.is_empty() {
        return None;
    }
    let text = |name: &str| {
        let found = given.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.clone()).filter(|value| !value.is_empty())
    };
    Some(RunnerInfo {
        name: text("name"),
        version: text("version"),
        revision: text("revision"),
        platform: text("platform"),
        architecture: text("architecture"),
    })
}

async fn register(api: Api<(Token, Registration)>) -> ApiResult<HttpResponse> {
    let made = api
        .run_for_runner(api.read()?.0.token, |app, (Token { token }, new)| {
            runner::register(app, &token, new)
        })
        .await?;
    respond::created(RegisteredJson::from(made))
}

async fn delete(api: Api<Token>) -> ApiResult<HttpResponse> {
    let Token { token } = api.read()?;
    api.run_for_runner(token, |app, Token { token }| runner::delete(app, &token)).await?;
    respond::ok(true)
}
