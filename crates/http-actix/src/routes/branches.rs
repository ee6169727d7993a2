//! Branches. Permission to read the code is checked before the parameters.

use actix_web::{HttpResponse, web};
use hexforge_application::branch::protect::DeveloperFields;
use hexforge_application::branch::{self, merged, protect};
use hexforge_application::repository;
use hexforge_domain::text::limit;
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::ids::ProjectPath;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::branch::BranchJson;
use crate::error::ApiResult;
use crate::params::{declared, parameters};
use crate::respond;

/// Declares the calls. The name of a branch may contain slashes, so it takes the rest of the path.
pub fn declare(calls: &mut Calls) {
    calls.section("Branches");
    let all = "/projects/{id}/repository/branches";
    let made = calls.dialect().created();
    calls.add(call::get(all, "Lists the branches of a project", list).list::<BranchJson>());
    calls.add(call::post(all, "Creates a branch", create).with::<BranchJson>(made));
    let one = "/projects/{id}/repository/branches/{branch:.+}";
    calls.add(call::get(one, "Shows a branch", get).ok::<BranchJson>());
    calls.add(call::delete(one, "Removes a branch", delete).ok::<RemovedBranch>());
    let protect = call::put(format!("{one}/protect"), "Protects a branch", protect);
    calls.add(protect.ok::<BranchJson>());
    let unprotect = call::put(format!("{one}/unprotect"), "Unprotects a branch", unprotect);
    calls.add(unprotect.ok::<BranchJson>());
    let merged = "/projects/{id}/repository/merged_branches";
    let merged = call::delete(merged, "Removes the merged branches of a project", delete_merged);
    calls.add(merged.json(json!({ "type": "integer" })));
}

parameters! {
    struct NewBranch {
        name: String = declared::text("branch_name", limit::REF_NAME).needed(),
        from: String = declared::text("ref", limit::REF_NAME).needed(),
    }
}

parameters!(DeveloperFields {
    push: declared::boolean("developers_can_push"),
    merge: declared::boolean("developers_can_merge"),
});

async fn list(api: Api, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let page = api.page_of_short_list();
    let all = api.run(move |app, actor, ()| branch::list(app, actor, &named, page)).await?;
    respond::paged(&api, page, all.map(BranchJson::from))
}

async fn get(api: Api, path: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), name) = path.into_inner();
    let found = api.run(move |app, actor, ()| branch::get(app, actor, &named, &name)).await?;
    respond::ok(BranchJson::from(found))
}

async fn create(api: Api<NewBranch>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let made = api
        .run_unread(move |app, actor, unread| {
            repository::authorize(app, actor, &named)?;
            let NewBranch { name, from } = unread.read()?;
            Ok(branch::create(app, actor, &named, &name, &from)?)
        })
        .await?;
    respond::with(api.dialect().created(), BranchJson::from(made))
}

/// The branch that was removed.
#[derive(Serialize, ToSchema)]
struct RemovedBranch {
    branch_name: String,
}

async fn delete(api: Api, path: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), name) = path.into_inner();
    let asked = name.clone();
    let outcome = api
        .run(move |app, actor, ()| {
            repository::authorize(app, actor, &named)?;
            branch::delete(app, actor, &named, &asked)
        })
        .await?;
    match outcome {
        Ok(()) => respond::ok(RemovedBranch { branch_name: name }),
        Err(kept) => Err(api.dialect().branch_deletion_refused(kept)),
    }
}

async fn protect(
    api: Api<DeveloperFields>,
    path: web::Path<(ProjectPath, String)>,
) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), name) = path.into_inner();
    let changed = api
        .run_unread(move |app, actor, unread| {
            repository::authorize(app, actor, &named)?;
            Ok(protect::protect(app, actor, &named, &name, unread.read()?)?)
        })
        .await?;
    respond::ok(BranchJson::from(changed))
}

async fn unprotect(api: Api, path: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), name) = path.into_inner();
    let changed =
        api.run(move |app, actor, ()| protect::unprotect(app, actor, &named, &name)).await?;
    respond::ok(BranchJson::from(changed))
}

async fn delete_merged(api: Api, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    api.run(move |app, actor, ()| merged::request(app, actor, &named)).await?;
    // The body is only the number, as in the original service.
    respond::ok(200)
}
