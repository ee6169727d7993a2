//! Whether a configuration is good, for whoever asks.

use actix_web::{HttpResponse, web};
use hexforge_application::pipeline;
use hexforge_domain::text::limit;
use serde::Serialize;
use utoipa::ToSchema;

use super::table::Table;
use crate::api::Api;
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description};
use crate::respond;

/// Adds the route.
pub fn configure(cfg: &mut Table) {
    cfg.route("/ci/lint", web::post().to(lint));
}

/// Describes the route.
pub fn describe(to: &mut Description) {
    to.section("Configuration");
    let lint = doc::post("/ci/lint", "Whether a configuration is good").open();
    to.add(lint.takes(&[doc::text("content", limit::LONG).needed()]).ok::<Verdict>());
}

#[derive(Serialize, ToSchema)]
struct Verdict {
    status: &'static str,
    errors: Vec<String>,
}

async fn lint(api: Api) -> ApiResult<HttpResponse> {
    let mut declared = api.params().declared();
    let content = declared.required_text("content");
    declared.finish()?;
    let wrong = api.run_step(move |app| Ok(pipeline::lint(app, &content))).await?;
    let status = if wrong.is_none() { "valid" } else { "invalid" };
    respond::ok(Verdict { status, errors: wrong.into_iter().collect() })
}
