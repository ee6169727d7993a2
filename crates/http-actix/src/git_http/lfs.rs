//! Git LFS, which this server does not have. Its clients get a response whose text they show, the same for every
//! project and caller.

use actix_web::{HttpResponse, web};
use serde_json::json;

use crate::routes;
use crate::shared::Shared;

/// Adds the routes of LFS clients. The calls about locks have none: clients take 404 as "not supported".
pub(super) fn configure(cfg: &mut web::ServiceConfig) {
    for (path, route) in [
        ("/{namespace}/{project}/info/lfs/objects/batch", web::post().to(off)),
        ("/{namespace}/{project}/info/lfs/objects", web::post().to(off)),
        ("/{namespace}/{project}/info/lfs/objects/{oid}", web::get().to(off)),
        ("/{namespace}/{project}/gitlab-lfs/objects/{oid}", web::get().to(off)),
        ("/{namespace}/{project}/gitlab-lfs/objects/{oid}/{size}", web::put().to(off)),
    ] {
        routes::open_resource(cfg, path, route);
    }
}

/// The reference has this response for a server on which LFS is off.
async fn off(shared: web::Data<Shared>) -> HttpResponse {
    let message = "Git LFS is not enabled on this GitLab server, contact your admin.";
    let body = json!({ "message": message, "documentation_url": shared.edge.links.to("/help") });
    let mut response = HttpResponse::NotImplemented();
    response.content_type("application/vnd.git-lfs+json").body(body.to_string())
}
