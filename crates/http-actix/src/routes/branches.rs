//! Branches. Who may not read the code is told so before the parameters are read.

use actix_web::{HttpResponse, web};
use hexforge_application::branch::{self, merged, protect};
use hexforge_application::repository;
use hexforge_domain::text::limit;
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::ids::ProjectPath;
use super::table::Table;
use crate::api::Api;
use crate::entities::branch::BranchJson;
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description};
use crate::respond;

/// Adds the routes. Names of branches take all that is left of the path.
pub fn configure(cfg: &mut Table) {
    cfg.route("/projects/{id}/repository/branches", web::get().to(list));
    cfg.route("/projects/{id}/repository/branches", web::post().to(create));
    cfg.route("/projects/{id}/repository/merged_branches", web::delete().to(delete_merged));
    cfg.route("/projects/{id}/repository/branches/{branch:.+}/protect", web::put().to(protect));
    cfg.route("/projects/{id}/repository/branches/{branch:.+}/unprotect", web::put().to(unprotect));
    cfg.route("/projects/{id}/repository/branches/{branch:.+}", web::get().to(get));
    cfg.route("/projects/{id}/repository/branches/{branch:.+}", web::delete().to(delete));
}

/// Describes the routes.
pub fn describe(to: &mut Description) {
    to.section("Branches");
    let all = "/projects/:id/repository/branches";
    to.add(doc::get(all, "Branches").list::<BranchJson>());
    let fields = [
        doc::text("branch_name", limit::REF_NAME).needed(),
        doc::text("ref", limit::REF_NAME).needed(),
    ];
    let made = to.dialect().created_branch();
    to.add(doc::post(all, "Makes a branch").takes(&fields).with::<BranchJson>(made));
    let one = format!("{all}/:branch");
    to.add(doc::get(&one, "A branch").ok::<BranchJson>());
    to.add(doc::delete(&one, "Removes a branch").ok::<RemovedBranch>());
    let developers = [doc::boolean("developers_can_push"), doc::boolean("developers_can_merge")];
    let protect = doc::put(format!("{one}/protect"), "Protects a branch");
    to.add(protect.takes(&developers).ok::<BranchJson>());
    to.add(doc::put(format!("{one}/unprotect"), "Ends the protection").ok::<BranchJson>());
    let merged = doc::delete("/projects/:id/repository/merged_branches", "Removes merged branches");
    to.add(merged.json(json!({ "type": "integer" })));
}

async fn list(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), page) = (id.into_inner(), api.page_of_short_list());
    let all = api.run(move |app, actor, _| Ok(branch::list(app, actor, &named, page)?)).await?;
    respond::paged(&api, page, all.map(BranchJson::from))
}

async fn get(api: Api, path: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), name) = path.into_inner();
    let found = api.run(move |app, actor, _| Ok(branch::get(app, actor, &named, &name)?)).await?;
    respond::ok(BranchJson::from(found))
}

async fn create(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let ProjectPath(named) = id.into_inner();
    let made = api
        .run(move |app, actor, params| {
            repository::authorize(app, actor, &named)?;
            let mut declared = params.declared();
            let name = declared.required_text("branch_name");
            let from = declared.required_text("ref");
            declared.finish()?;
            Ok(branch::create(app, actor, &named, &name, &from)?)
        })
        .await?;
    respond::with(api.dialect().created_branch(), BranchJson::from(made))
}

/// The branch that is gone.
#[derive(Serialize, ToSchema)]
struct RemovedBranch {
    branch_name: String,
}

async fn delete(api: Api, path: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), name) = path.into_inner();
    let asked = name.clone();
    let outcome = api
        .run(move |app, actor, _| {
            repository::authorize(app, actor, &named)?;
            Ok(branch::delete(app, actor, &named, &asked)?)
        })
        .await?;
    match outcome {
        Ok(()) => respond::ok(RemovedBranch { branch_name: name }),
        Err(kept) => Err(api.dialect().branch_kept(kept)),
    }
}

async fn protect(api: Api, path: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), name) = path.into_inner();
    let changed = api
        .run(move |app, actor, params| {
            repository::authorize(app, actor, &named)?;
            let mut declared = params.declared();
            let push = declared.boolean("developers_can_push");
            let merge = declared.boolean("developers_can_merge");
            declared.finish()?;
            Ok(protect::protect(app, actor, &named, &name, push, merge)?)
        })
        .await?;
    respond::ok(BranchJson::from(changed))
}

async fn unprotect(api: Api, path: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), name) = path.into_inner();
    let changed =
        api.run(move |app, actor, _| Ok(protect::unprotect(app, actor, &named, &name)?)).await?;
    respond::ok(BranchJson::from(changed))
}

async fn delete_merged(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let ProjectPath(named) = id.into_inner();
    api.run(move |app, actor, _| Ok(merged::request(app, actor, &named)?)).await?;
    // The number is the body: so it was in the service for which clients were written.
    respond::ok(200)
}
