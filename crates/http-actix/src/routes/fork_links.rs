//! Saying that a project is a fork, or none.

use actix_web::{HttpResponse, web};
use hexforge_application::project::fork_link;

use super::ids::ProjectPath;
use super::table::Table;
use crate::api::Api;
use crate::entities::project::ForkLinkJson;
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description};
use crate::respond;

/// Adds the routes.
pub fn configure(cfg: &mut Table) {
    cfg.route("/projects/{id}/fork/{source}", web::post().to(create));
    cfg.route("/projects/{id}/fork", web::delete().to(delete));
}

/// Describes the routes.
pub fn describe(to: &mut Description) {
    let fork = "/projects/:id/fork";
    let create = doc::post(format!("{fork}/:forked_from_id"), "Says that a project is a fork");
    to.add(create.made::<ForkLinkJson>());
    to.add(doc::delete(fork, "Says that a project is no fork").yes_or_no());
}

async fn create(api: Api, ids: web::Path<(ProjectPath, ProjectPath)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(fork), ProjectPath(source)) = ids.into_inner();
    let link =
        api.run(move |app, actor, _| Ok(fork_link::create(app, actor, &fork, &source)?)).await?;
    respond::created(ForkLinkJson::from(link))
}

/// The answer is whether it was a fork.
async fn delete(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let ProjectPath(named) = id.into_inner();
    let was_fork = api.run(move |app, actor, _| Ok(fork_link::delete(app, actor, &named)?)).await?;
    respond::ok(was_fork)
}
