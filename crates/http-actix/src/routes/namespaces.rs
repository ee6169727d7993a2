//! Namespaces.

use actix_web::{HttpResponse, web};
use hexforge_application::namespace;

use crate::api::Api;
use crate::entities::namespace::NamespaceLineJson;
use crate::error::ApiResult;
use crate::respond;

/// Adds the route.
pub fn configure(cfg: &mut web::ServiceConfig) {
    cfg.route("/namespaces", web::get().to(list));
}

async fn list(api: Api) -> ApiResult<HttpResponse> {
    let page = api.page();
    let namespaces = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let search = declared.text("search").filter(|text| !text.is_empty());
            declared.finish()?;
            Ok(namespace::list(app, actor, search.as_deref(), page)?)
        })
        .await?;
    respond::paged(&api, page, namespaces.map(NamespaceLineJson::from))
}
