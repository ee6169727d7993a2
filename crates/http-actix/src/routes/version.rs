//! `GET /version`.

use actix_web::{HttpResponse, web};
use serde::Serialize;
use utoipa::ToSchema;

use super::VERSION;
use super::table::Table;
use crate::api::Api;
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description};
use crate::respond;

/// Adds the route.
pub fn configure(cfg: &mut Table) {
    cfg.route("/version", web::get().to(version));
}

/// Describes the route.
pub fn describe(to: &mut Description) {
    to.section("Service");
    to.add(doc::get("/version", "What is running").ok::<Running>());
}

#[derive(Serialize, ToSchema)]
struct Running {
    version: &'static str,
    revision: String,
}

async fn version(api: Api) -> ApiResult<HttpResponse> {
    api.run(|_, _, _| Ok(())).await?;
    respond::ok(Running { version: VERSION, revision: api.revision().to_owned() })
}
