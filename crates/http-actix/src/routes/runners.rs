//! Runners register, and say that they are gone.

use actix_web::{HttpResponse, web};
use hexforge_application::error::Error;
use hexforge_application::runner::{self, Registration};
use hexforge_domain::runner::RunnerInfo;
use hexforge_domain::text::limit;

use crate::api::Api;
use crate::entities::runner::RegisteredJson;
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description};
use crate::params::Params;
use crate::respond;

/// Adds the routes.
pub fn configure(cfg: &mut web::ServiceConfig) {
    cfg.route("/runners/register", web::post().to(register));
    cfg.route("/runners/register.json", web::post().to(register));
    cfg.route("/runners/delete", web::delete().to(delete));
    cfg.route("/runners/delete.json", web::delete().to(delete));
}

/// Describes the routes.
pub fn describe(to: &mut Description) {
    to.section("For runners");
    let token = doc::text("token", limit::SHORT).needed();
    let fields = [
        token,
        doc::text("description", limit::SHORT),
        doc::texts("tag_list", limit::SHORT),
        doc::boolean("run_untagged"),
        doc::boolean("locked"),
        doc::map("info", limit::SHORT),
    ];
    let register = doc::post("/ci/api/v1/runners/register", "Registers a runner").open();
    to.add(register.takes(&fields).made::<RegisteredJson>());
    let gone = doc::delete("/ci/api/v1/runners/delete", "Says that a runner is gone").open();
    to.add(gone.takes(&[token]).yes_or_no());
}

async fn register(api: Api) -> ApiResult<HttpResponse> {
    let made = api
        .run_for_runner(|app, params| {
            let token = params.text("token")?.ok_or(Error::NotGiven("token"))?;
            Ok(runner::register(app, &token, read_registration(params)?)?)
        })
        .await?;
    respond::created(RegisteredJson::from(made))
}

fn read_registration(params: &Params) -> ApiResult<Registration> {
    Ok(Registration {
        description: params.text("description")?.unwrap_or_default(),
        tags: params.words("tag_list")?.into_iter().collect(),
        run_untagged: params.switch("run_untagged")?.unwrap_or(true),
        locked: params.switch("locked")?.unwrap_or(false),
        info: read_info(params).unwrap_or_default(),
    })
}

/// What a runner says of itself, if it says anything.
pub(super) fn read_info(params: &Params) -> Option<RunnerInfo> {
    let given = params.text_map("info").filter(|given| !given.is_empty())?;
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

async fn delete(api: Api) -> ApiResult<HttpResponse> {
    api.run_for_runner(|app, params| {
        let token = params.text("token")?.ok_or(Error::NotGiven("token"))?;
        Ok(runner::delete(app, &token)?)
    })
    .await?;
    respond::ok(true)
}
