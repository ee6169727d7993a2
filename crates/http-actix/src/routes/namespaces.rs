//! Namespaces.

use actix_web::{HttpResponse, web};
use hexforge_application::namespace;
use hexforge_domain::text::limit;

use super::table::Table;
use crate::api::Api;
use crate::entities::namespace::NamespaceLineJson;
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description};
use crate::respond;

/// Adds the route.
pub fn configure(cfg: &mut Table) {
    cfg.route("/namespaces", web::get().to(list));
}

/// Describes the route.
pub fn describe(to: &mut Description) {
    to.section("Namespaces");
    let list = doc::get("/namespaces", "Namespaces in which the caller may make projects");
    to.add(list.takes(&[doc::text("search", limit::SHORT)]).list::<NamespaceLineJson>());
}

async fn list(api: Api) -> ApiResult<HttpResponse> {
    let page = api.page();
    let namespaces = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let search = declared.search("search");
            declared.finish()?;
            Ok(namespace::list(app, actor, search.as_deref(), page)?)
        })
        .await?;
    respond::paged(&api, page, namespaces.map(NamespaceLineJson::from))
}
