//! Namespaces.

use actix_web::HttpResponse;
use hexforge_application::namespace;
use hexforge_domain::text::limit;

use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::namespace::NamespaceLineJson;
use crate::error::ApiResult;
use crate::params::{declared, parameters};
use crate::respond;

/// Declares the call.
pub fn declare(calls: &mut Calls) {
    calls.section("Namespaces");
    let about = "Lists the namespaces in which the caller may create projects";
    calls.add(call::get("/namespaces", about, list).list::<NamespaceLineJson>());
}

parameters! {
    struct Search {
        search: Option<String> = declared::search("search", limit::SHORT),
    }
}

async fn list(api: Api<Search>) -> ApiResult<HttpResponse> {
    let page = api.page();
    let namespaces = api
        .run(move |app, actor, Search { search }| {
            namespace::list(app, actor, search.as_deref(), page)
        })
        .await?;
    respond::paged(&api, page, namespaces.map(NamespaceLineJson::from))
}
