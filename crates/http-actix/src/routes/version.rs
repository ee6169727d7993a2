//! `GET /version`.

use actix_web::HttpResponse;
use serde::Serialize;
use utoipa::ToSchema;

use super::VERSION;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::error::{ApiError, ApiResult};
use crate::respond;

/// Declares the call.
pub fn declare(calls: &mut Calls) {
    calls.section("Service");
    calls.add(call::get("/version", "Shows the version of the service", version).ok::<Running>());
}

#[derive(Serialize, ToSchema)]
struct Running {
    version: &'static str,
    revision: String,
}

async fn version(api: Api) -> ApiResult<HttpResponse> {
    api.run(|_, _, ()| Ok::<_, ApiError>(())).await?;
    respond::ok(Running { version: VERSION, revision: api.revision().to_owned() })
}
