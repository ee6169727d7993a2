//! `GET /openapi.json`: the OpenAPI description of the API.

use actix_web::http::header::ContentType;
use actix_web::{HttpResponse, web};
use serde_json::json;

use crate::call::{self, Calls};
use crate::openapi;
use crate::shared::Shared;

/// Declares the call.
pub fn declare(calls: &mut Calls) {
    let show =
        call::get("/openapi.json", "Shows this description of the API", show).without_sign_in();
    calls.add(show.json(json!({ "type": "object" })));
}

/// Sends the description. It needs no sign-in, because it is the same in every installation.
async fn show(shared: web::Data<Shared>) -> HttpResponse {
    let dialect = shared.settings.dialect;
    let text = shared.openapi.get_or_init(|| openapi::document(dialect).to_string().into());
    HttpResponse::Ok().content_type(ContentType::json()).body(text.clone())
}
