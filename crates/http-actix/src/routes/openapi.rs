//! `GET /openapi.json`: the interface described for machines.

use actix_web::http::header::ContentType;
use actix_web::{HttpResponse, web};
use serde_json::json;

use super::table::Table;
use crate::openapi::{self as doc, Description};
use crate::shared::Shared;

/// Adds the route.
pub fn configure(cfg: &mut Table) {
    cfg.route("/openapi.json", web::get().to(show));
}

/// Describes the route.
pub fn describe(to: &mut Description) {
    let show = doc::get("/openapi.json", "This description").open();
    to.add(show.json(json!({ "type": "object" })));
}

/// For everybody: it is the same in every installation.
async fn show(shared: web::Data<Shared>) -> HttpResponse {
    let dialect = shared.settings.dialect;
    let text = shared.openapi.get_or_init(|| doc::document(dialect).to_string().into());
    HttpResponse::Ok().content_type(ContentType::json()).body(text.clone())
}
