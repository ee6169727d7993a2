//! Adds and removes the fork relation between two projects.

use actix_web::{HttpResponse, web};
use hexforge_application::project::fork_link;

use super::ids::ProjectPath;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::project::ForkLinkJson;
use crate::error::ApiResult;
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    let create_at = "/projects/{id}/fork/{forked_from_id}";
    let create = call::post(create_at, "Makes a project a fork of another one", create);
    calls.add(create.created::<ForkLinkJson>());
    let delete =
        call::delete("/projects/{id}/fork", "Removes the fork relation of a project", delete);
    calls.add(delete.boolean());
}

async fn create(api: Api, ids: web::Path<(ProjectPath, ProjectPath)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(fork), ProjectPath(source)) = ids.into_inner();
    let link = api.run(move |app, actor, ()| fork_link::create(app, actor, &fork, &source)).await?;
    respond::created(ForkLinkJson::from(link))
}

/// The response is true if the project was a fork.
async fn delete(api: Api, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let was_fork = api.run(move |app, actor, ()| fork_link::delete(app, actor, &named)).await?;
    respond::ok(was_fork)
}
