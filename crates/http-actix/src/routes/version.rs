//! `GET /version`.

use actix_web::{HttpResponse, web};
use serde_json::json;

use super::VERSION;
use crate::api::Api;
use crate::error::ApiResult;
use crate::respond;

/// Adds the route.
pub fn configure(cfg: &mut web::ServiceConfig) {
    cfg.route("/version", web::get().to(version));
}

async fn version(api: Api) -> ApiResult<HttpResponse> {
    api.run(|_, _, _| Ok(())).await?;
    respond::ok(json!({ "version": VERSION, "revision": api.revision() }))
}
