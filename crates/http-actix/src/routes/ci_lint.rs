//! `POST /ci/lint`: validation of a CI configuration, without sign-in.

use actix_web::HttpResponse;
use hexforge_application::pipeline;
use hexforge_domain::text::limit;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::Api;
use crate::call::{self, Calls};
use crate::error::ApiResult;
use crate::params::{declared, parameters};
use crate::respond;

/// Declares the call.
pub fn declare(calls: &mut Calls) {
    calls.section("Configuration");
    let lint = call::post("/ci/lint", "Validates a CI configuration", lint).without_sign_in();
    calls.add(lint.ok::<Verdict>());
}

parameters! {
    struct Configuration {
        content: String = declared::text("content", limit::LONG).needed(),
    }
}

#[derive(Serialize, ToSchema)]
struct Verdict {
    status: &'static str,
    errors: Vec<String>,
}

async fn lint(api: Api<Configuration>) -> ApiResult<HttpResponse> {
    let Configuration { content } = api.read()?;
    let wrong = api.run_step(move |app| Ok(pipeline::lint(app, &content))).await?;
    let status = if wrong.is_none() { "valid" } else { "invalid" };
    respond::ok(Verdict { status, errors: wrong.into_iter().collect() })
}
