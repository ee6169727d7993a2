//! Groups.

use actix_web::{HttpResponse, web};
use hexforge_application::group;
use hexforge_application::group::fields::GroupFields;
use hexforge_application::group::transfer;
use hexforge_domain::group::{GroupFilter, GroupOrder, GroupScope};
use hexforge_domain::id::{NamespaceId, ProjectId};
use hexforge_domain::text::limit;

use super::ids::{GroupPath, PathId};
use super::projects::{LISTING, read_listing};
use super::table::Table;
use crate::api::Api;
use crate::entities::namespace::{
    Group, GroupDetailJson, GroupDetailShape, GroupJson, NamespaceJson, NamespaceShape,
};
use crate::entities::project::{ProjectJson, ProjectShape};
use crate::error::{ApiError, ApiResult};
use crate::openapi::{self as doc, Description, Param};
use crate::params::{Declared, Params};
use crate::respond;

/// Adds the routes.
pub fn configure(cfg: &mut Table) {
    cfg.route("/groups", web::get().to(list));
    cfg.route("/groups", web::post().to(create));
    cfg.route("/groups/owned", web::get().to(owned));
    cfg.route("/groups/{id}", web::get().to(get));
    cfg.route("/groups/{id}", web::put().to(update));
    cfg.route("/groups/{id}", web::delete().to(delete));
    cfg.route("/groups/{id}/projects", web::get().to(projects));
    cfg.route("/groups/{id}/projects/{project}", web::post().to(transfer));
}

/// What may be said of a group.
const FIELDS: [Param; 4] = [
    doc::text("description", limit::SHORT),
    doc::integer("visibility_level"),
    doc::boolean("lfs_enabled"),
    doc::boolean("request_access_enabled"),
];

/// Describes the routes.
pub fn describe(to: &mut Description) {
    to.section("Groups");
    let filter = [
        doc::integers("skip_groups"),
        doc::boolean("all_available"),
        doc::text("search", limit::SHORT),
        doc::one_of("order_by", &["name", "path"]),
        doc::one_of("sort", &["asc", "desc"]),
    ];
    to.add(doc::get("/groups", "Groups").takes(&filter).list::<Group>());
    to.add(doc::get("/groups/owned", "Groups of which the caller is an owner").list::<Group>());
    let (name, path) = (doc::text("name", limit::SHORT), doc::text("path", limit::SHORT));
    let create = doc::post("/groups", "Makes a group").takes(&[name.needed(), path.needed()]);
    to.add(create.takes(&FIELDS).made::<Group>());
    let one = "/groups/:id";
    to.add(doc::get(one, "A group with its projects").ok::<GroupDetailShape>());
    let update = doc::put(one, "Changes a group").takes(&[name, path]).takes(&FIELDS);
    to.add(update.ok::<GroupDetailShape>());
    to.add(doc::delete(one, "Removes a group").ok::<NamespaceShape>());
    let projects = doc::get("/groups/:id/projects", "Projects of a group");
    to.add(projects.takes(&LISTING).list::<ProjectShape>());
    let transfer = doc::post("/groups/:id/projects/:project_id", "Moves a project into a group");
    to.add(transfer.made::<GroupDetailShape>());
}

async fn list(api: Api) -> ApiResult<HttpResponse> {
    let page = api.page();
    let groups = api
        .run(move |app, actor, params| {
            let (all_available, filter) = read_filter(params)?;
            Ok(group::list(app, actor, all_available, filter, page)?)
        })
        .await?;
    respond::paged(&api, page, groups.as_ref().map(|group| GroupJson(group, api.links())))
}

fn read_filter(params: &Params) -> ApiResult<(bool, GroupFilter)> {
    let mut declared = params.declared();
    let skip = declared.integers("skip_groups").unwrap_or_default();
    let all_available = declared.boolean("all_available").unwrap_or(false);
    let search = declared.search("search");
    let order = declared.one_of("order_by", &["name", "path"]);
    let sort = declared.one_of("sort", &["asc", "desc"]);
    declared.finish()?;
    let filter = GroupFilter {
        // The use case knows for whom.
        scope: GroupScope::All,
        skip: skip.into_iter().map(NamespaceId).collect(),
        search,
        order: if order == Some("path") { GroupOrder::Path } else { GroupOrder::Name },
        descending: sort == Some("desc"),
    };
    Ok((all_available, filter))
}

async fn owned(api: Api) -> ApiResult<HttpResponse> {
    let page = api.page();
    let groups = api.run(move |app, actor, _| Ok(group::owned(app, actor, page)?)).await?;
    respond::paged(&api, page, groups.as_ref().map(|group| GroupJson(group, api.links())))
}

async fn get(api: Api, id: web::Path<GroupPath>) -> ApiResult<HttpResponse> {
    let GroupPath(named) = id.into_inner();
    let detail = api.run(move |app, actor, _| Ok(group::get(app, actor, &named)?)).await?;
    respond::ok(GroupDetailJson(&detail, api.links()))
}

async fn projects(api: Api, id: web::Path<GroupPath>) -> ApiResult<HttpResponse> {
    let (GroupPath(named), page) = (id.into_inner(), api.page());
    let projects = api
        .run(move |app, actor, params| {
            let listing = read_listing(params)?;
            Ok(group::projects(app, actor, &named, &listing, page)?)
        })
        .await?;
    respond::paged(&api, page, projects.as_ref().map(|view| ProjectJson::new(view, api.links())))
}

async fn create(api: Api) -> ApiResult<HttpResponse> {
    let made = api
        .run(|app, actor, params| {
            let mut declared = params.declared();
            let fields = GroupFields {
                name: Some(declared.required_text("name")),
                path: Some(declared.required_text("path")),
                ..read_optional(&mut declared)
            };
            declared.finish()?;
            group::create(app, actor, &fields)
                .map_err(|error| ApiError::sentence("Failed to save group", error))
        })
        .await?;
    respond::created(GroupJson(&made, api.links()))
}

async fn update(api: Api, id: web::Path<GroupPath>) -> ApiResult<HttpResponse> {
    let GroupPath(named) = id.into_inner();
    let detail = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let fields = GroupFields {
                name: declared.text("name"),
                path: declared.text("path"),
                ..read_optional(&mut declared)
            };
            declared.at_least_one(&[
                "name",
                "path",
                "description",
                "visibility_level",
                "lfs_enabled",
                "request_access_enabled",
            ]);
            declared.finish()?;
            Ok(group::update(app, actor, &named, &fields)?)
        })
        .await?;
    respond::ok(GroupDetailJson(&detail, api.links()))
}

fn read_optional(declared: &mut Declared<'_>) -> GroupFields {
    GroupFields {
        name: None,
        path: None,
        description: declared.text("description"),
        visibility_level: declared.integer("visibility_level"),
        lfs_enabled: declared.boolean("lfs_enabled"),
        request_access_enabled: declared.boolean("request_access_enabled"),
    }
}

async fn delete(api: Api, id: web::Path<GroupPath>) -> ApiResult<HttpResponse> {
    let GroupPath(named) = id.into_inner();
    let removed = api.run(move |app, actor, _| Ok(group::delete(app, actor, &named)?)).await?;
    respond::ok(NamespaceJson(&removed, api.links()))
}

async fn transfer(api: Api, ids: web::Path<(GroupPath, PathId)>) -> ApiResult<HttpResponse> {
    let (GroupPath(named), project) = ids.into_inner();
    let project = ProjectId::from(project);
    let detail = api
        .run(move |app, actor, _| {
            transfer::into_group(app, actor, &named, project)
                .map_err(|error| ApiError::sentence("Failed to transfer project", error))
        })
        .await?;
    respond::created(GroupDetailJson(&detail, api.links()))
}
