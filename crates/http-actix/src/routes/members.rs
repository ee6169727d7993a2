//! Members of groups and of projects: the same calls below both.

use actix_web::{HttpResponse, web};
use hexforge_application::member::{self, MemberSource, Removal};
use hexforge_domain::id::UserId;
use hexforge_domain::text::limit;
use serde_json::json;

use super::ids::{GroupPath, ProjectPath};
use super::table::Table;
use crate::api::Api;
use crate::entities::member::{AccessRevoked, Member, MemberJson};
use crate::entities::user::{UserJson, UserSummary};
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description};
use crate::respond;

/// Adds the routes.
pub fn configure(cfg: &mut Table) {
    add_routes::<GroupPath>(cfg, "/groups/{id}/members");
    add_routes::<ProjectPath>(cfg, "/projects/{id}/members");
    cfg.route("/projects/{id}/users", web::get().to(team));
}

/// Describes the routes.
pub fn describe(to: &mut Description) {
    to.section("Members");
    let (level, until) = (doc::integer("access_level").needed(), doc::date("expires_at"));
    for source in ["groups", "projects"] {
        let all = format!("/{source}/:id/members");
        to.add(
            doc::get(&all, "Members").takes(&[doc::text("query", limit::SHORT)]).list::<Member>(),
        );
        let fields = [doc::integer("user_id").needed(), level, until];
        to.add(doc::post(&all, "Makes a member").takes(&fields).made::<Member>());
        let one = format!("{all}/:user_id");
        to.add(doc::get(&one, "A member").ok::<Member>());
        to.add(doc::put(&one, "Changes a member").takes(&[level, until]).ok::<Member>());
        to.add(doc::delete(&one, "Removes a member").ok::<Member>().or::<AccessRevoked>());
    }
    let team = doc::get("/projects/:id/users", "Everybody who is a member in some way");
    to.add(team.takes(&[doc::text("search", limit::SHORT)]).list::<UserSummary>());
}

/// What has members, as a path has it.
pub(super) trait SourcePath: for<'de> serde::Deserialize<'de> + 'static {
    fn source(self) -> MemberSource;
}

impl SourcePath for GroupPath {
    fn source(self) -> MemberSource {
        MemberSource::Group(self.0)
    }
}

impl SourcePath for ProjectPath {
    fn source(self) -> MemberSource {
        MemberSource::Project(self.0)
    }
}

fn add_routes<P: SourcePath>(cfg: &mut Table, path: &str) {
    let one = format!("{path}/{{user}}");
    cfg.route(path, web::get().to(list::<P>));
    cfg.route(path, web::post().to(add::<P>));
    cfg.route(&one, web::get().to(get::<P>));
    cfg.route(&one, web::put().to(update::<P>));
    cfg.route(&one, web::delete().to(remove::<P>));
}

async fn list<P: SourcePath>(api: Api, id: web::Path<P>) -> ApiResult<HttpResponse> {
    let (source, page) = (id.into_inner().source(), api.page());
    let members = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let query = declared.search("query");
            declared.finish()?;
            Ok(member::list(app, actor, &source, query.as_deref(), page)?)
        })
        .await?;
    respond::paged(&api, page, members.as_ref().map(|member| MemberJson(member, api.links())))
}

async fn team(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), page) = (id.into_inner(), api.page());
    let team = api
        .run(move |app, actor, params| {
            let search = params.search("search")?;
            Ok(member::team(app, actor, &named, search.as_deref(), page)?)
        })
        .await?;
    respond::paged(&api, page, team.as_ref().map(|user| UserJson::summary(user, api.links())))
}

async fn get<P: SourcePath>(api: Api, ids: web::Path<(P, String)>) -> ApiResult<HttpResponse> {
    let (source, user) = ids.into_inner();
    let source = source.source();
    let found = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let user = UserId(declared.path_integer("user_id", &user));
            declared.finish()?;
            Ok(member::get(app, actor, &source, user)?)
        })
        .await?;
    respond::ok(MemberJson(&found, api.links()))
}

async fn add<P: SourcePath>(api: Api, id: web::Path<P>) -> ApiResult<HttpResponse> {
    let source = id.into_inner().source();
    let added = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let user = UserId(declared.required_integer("user_id"));
            let level = declared.required_integer("access_level");
            let expires_at = declared.date("expires_at");
            declared.finish()?;
            Ok(member::add(app, actor, &source, user, level, expires_at)?)
        })
        .await?;
    respond::created(MemberJson(&added, api.links()))
}

async fn update<P: SourcePath>(api: Api, ids: web::Path<(P, String)>) -> ApiResult<HttpResponse> {
    let (source, user) = ids.into_inner();
    let source = source.source();
    let changed = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let user = UserId(declared.path_integer("user_id", &user));
            let level = declared.required_integer("access_level");
            let expires_at = declared.date("expires_at");
            declared.finish()?;
            Ok(member::update(app, actor, &source, user, level, expires_at)?)
        })
        .await?;
    respond::ok(MemberJson(&changed, api.links()))
}

async fn remove<P: SourcePath>(api: Api, ids: web::Path<(P, String)>) -> ApiResult<HttpResponse> {
    let (source, user) = ids.into_inner();
    let source = source.source();
    let removal = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let user = UserId(declared.path_integer("user_id", &user));
            declared.finish()?;
            Ok(member::remove(app, actor, &source, user)?)
        })
        .await?;
    match removal {
        Removal::Removed(member) => respond::ok(MemberJson(&member, api.links())),
        Removal::WasNone(user) => respond::ok(json!({ "message": "Access revoked", "id": user.0 })),
    }
}
