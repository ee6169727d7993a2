//! Requests for access to groups and to projects: the same calls below both.

use actix_web::{HttpResponse, web};
use hexforge_application::member::request;
use hexforge_domain::id::UserId;

use super::ids::{GroupPath, ProjectPath};
use super::members::SourcePath;
use super::table::Table;
use crate::api::Api;
use crate::entities::member::{AccessRequester, Member, MemberJson, RequesterJson};
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description};
use crate::respond;

/// Adds the routes.
pub fn configure(cfg: &mut Table) {
    add_routes::<GroupPath>(cfg, "/groups/{id}/access_requests");
    add_routes::<ProjectPath>(cfg, "/projects/{id}/access_requests");
}

/// Describes the routes.
pub fn describe(to: &mut Description) {
    for source in ["groups", "projects"] {
        let all = format!("/{source}/:id/access_requests");
        to.add(doc::get(&all, "Who asks to become a member").list::<AccessRequester>());
        to.add(doc::post(&all, "Asks to become a member").made::<AccessRequester>());
        let approve = format!("{all}/:user_id/approve");
        let about = "Makes a member of who asked";
        to.add(doc::put(approve, about).takes(&[doc::integer("access_level")]).made::<Member>());
        to.add(doc::delete(format!("{all}/:user_id"), "Refuses a request").ok::<AccessRequester>());
    }
}

fn add_routes<P: SourcePath>(cfg: &mut Table, path: &str) {
    cfg.route(path, web::get().to(list::<P>));
    cfg.route(path, web::post().to(create::<P>));
    cfg.route(&format!("{path}/{{user}}/approve"), web::put().to(approve::<P>));
    cfg.route(&format!("{path}/{{user}}"), web::delete().to(delete::<P>));
}

async fn list<P: SourcePath>(api: Api, id: web::Path<P>) -> ApiResult<HttpResponse> {
    let (source, page) = (id.into_inner().source(), api.page());
    let asking =
        api.run(move |app, actor, _| Ok(request::list(app, actor, &source, page)?)).await?;
    respond::paged(&api, page, asking.as_ref().map(|one| RequesterJson(one, api.links())))
}

async fn create<P: SourcePath>(api: Api, id: web::Path<P>) -> ApiResult<HttpResponse> {
    let source = id.into_inner().source();
    let made = api.run(move |app, actor, _| Ok(request::create(app, actor, &source)?)).await?;
    respond::created(RequesterJson(&made, api.links()))
}

/// What is made by this is a member, so the answer is 201.
async fn approve<P: SourcePath>(api: Api, ids: web::Path<(P, String)>) -> ApiResult<HttpResponse> {
    let (source, user) = ids.into_inner();
    let source = source.source();
    let member = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let user = UserId(declared.path_integer("user_id", &user));
            let level = declared.integer("access_level");
            declared.finish()?;
            Ok(request::approve(app, actor, &source, user, level)?)
        })
        .await?;
    respond::created(MemberJson(&member, api.links()))
}

async fn delete<P: SourcePath>(api: Api, ids: web::Path<(P, String)>) -> ApiResult<HttpResponse> {
    let (source, user) = ids.into_inner();
    let source = source.source();
    let gone = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let user = UserId(declared.path_integer("user_id", &user));
            declared.finish()?;
            Ok(request::delete(app, actor, &source, user)?)
        })
        .await?;
    respond::ok(RequesterJson(&gone, api.links()))
}
