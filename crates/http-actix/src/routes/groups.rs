//! Groups.

use actix_web::{HttpResponse, web};
use hexforge_application::group;
use hexforge_application::group::fields::GroupFields;
use hexforge_application::group::transfer;
use hexforge_application::project::ProjectListing;
use hexforge_domain::group::{GroupFilter, GroupOrder, GroupScope};
use hexforge_domain::id::{NamespaceId, ProjectId};
use hexforge_domain::text::limit;

use super::ids::{GroupPath, PathId};
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::namespace::{GroupDetailJson, GroupJson, NamespaceJson};
use crate::entities::project::ProjectJson;
use crate::error::{ApiError, ApiResult};
use crate::params::{declared, nested, parameters};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Groups");
    calls.add(call::get("/groups", "Lists groups", list).list::<GroupJson<'_>>());
    let owned = call::get("/groups/owned", "Lists the groups that the caller owns", owned);
    calls.add(owned.list::<GroupJson<'_>>());
    calls.add(call::post("/groups", "Creates a group", create).created::<GroupJson<'_>>());
    let one = "/groups/{id}";
    calls.add(call::get(one, "Shows a group with its projects", get).ok::<GroupDetailJson<'_>>());
    calls.add(call::put(one, "Updates a group", update).ok::<GroupDetailJson<'_>>());
    calls.add(call::delete(one, "Removes a group", delete).ok::<NamespaceJson<'_>>());
    let projects = call::get("/groups/{id}/projects", "Lists the projects of a group", projects);
    calls.add(projects.list::<ProjectJson<'_>>());
    let transfer = "/groups/{id}/projects/{project_id}";
    let transfer = call::post(transfer, "Moves a project into a group", move_into);
    calls.add(transfer.created::<GroupDetailJson<'_>>());
}

parameters! {
    /// Filters and order of the group list.
    struct Listing {
        skip: Vec<i64> = declared::integers("skip_groups").otherwise(Vec::new()),
        all_available: bool = declared::boolean("all_available").otherwise(false),
        search: Option<String> = declared::search("search", limit::SHORT),
        order: Option<&'static str> = declared::one_of("order_by", &["name", "path"]),
        sort: Option<&'static str> = declared::one_of("sort", &["asc", "desc"]),
    }
}

parameters! {
    struct NewGroup {
        name: String = declared::text("name", limit::SHORT).needed(),
        path: String = declared::text("path", limit::SHORT).needed(),
        options: Options = nested::<Options>(),
    }
}

parameters! {
    struct GroupChanges {
        name: Option<String> = declared::text("name", limit::SHORT),
        path: Option<String> = declared::text("path", limit::SHORT),
        options: Options = nested::<Options>(),
    },
    |from| from.at_least_one(&[
        "name",
        "path",
        "description",
        "visibility_level",
        "lfs_enabled",
        "request_access_enabled",
    ])
}

parameters! {
    /// The fields that creation and update have in common.
    struct Options {
        description: Option<String> = declared::text("description", limit::SHORT),
        visibility_level: Option<i64> = declared::integer("visibility_level"),
        lfs_enabled: Option<bool> = declared::boolean("lfs_enabled"),
        request_access_enabled: Option<bool> = declared::boolean("request_access_enabled"),
    }
}

impl Options {
    fn with(self, name: Option<String>, path: Option<String>) -> GroupFields {
        let Self { description, visibility_level, lfs_enabled, request_access_enabled } = self;
        GroupFields {
            name,
            path,
            description,
            visibility_level,
            lfs_enabled,
            request_access_enabled,
        }
    }
}

async fn list(api: Api<Listing>) -> ApiResult<HttpResponse> {
    let page = api.page();
    let groups = api
        .run(move |app, actor, listing| {
            let filter = GroupFilter {
                // The use case decides for which callers.
                scope: GroupScope::All,
                skip: listing.skip.into_iter().map(NamespaceId).collect(),
                search: listing.search,
                order: match listing.order {
                    Some("path") => GroupOrder::Path,
                    _ => GroupOrder::Name,
                },
                descending: listing.sort == Some("desc"),
            };
            group::list(app, actor, listing.all_available, filter, page)
        })
        .await?;
    respond::paged(&api, page, groups.as_ref().map(|group| GroupJson::new(group, api.links())))
}

async fn owned(api: Api) -> ApiResult<HttpResponse> {
    let page = api.page();
    let groups = api.run(move |app, actor, ()| group::list_owned(app, actor, page)).await?;
    respond::paged(&api, page, groups.as_ref().map(|group| GroupJson::new(group, api.links())))
}

async fn get(api: Api, GroupPath(named): GroupPath) -> ApiResult<HttpResponse> {
    let detail = api.run(move |app, actor, ()| group::get(app, actor, &named)).await?;
    respond::ok(GroupDetailJson::new(&detail, api.links()))
}

async fn projects(
    api: Api<ProjectListing>,
    GroupPath(named): GroupPath,
) -> ApiResult<HttpResponse> {
    let page = api.page();
    let projects = api
        .run(move |app, actor, listing| group::projects(app, actor, &named, &listing, page))
        .await?;
    respond::paged(&api, page, projects.as_ref().map(|view| ProjectJson::new(view, api.links())))
}

async fn create(api: Api<NewGroup>) -> ApiResult<HttpResponse> {
    let made = api
        .run(|app, actor, NewGroup { name, path, options }| {
            group::create(app, actor, &options.with(Some(name), Some(path)))
                .map_err(|error| ApiError::sentence("Failed to save group", error))
        })
        .await?;
    respond::created(GroupJson::new(&made, api.links()))
}

async fn update(api: Api<GroupChanges>, GroupPath(named): GroupPath) -> ApiResult<HttpResponse> {
    let detail = api
        .run(move |app, actor, GroupChanges { name, path, options }| {
            group::update(app, actor, &named, &options.with(name, path))
        })
        .await?;
    respond::ok(GroupDetailJson::new(&detail, api.links()))
}

async fn delete(api: Api, GroupPath(named): GroupPath) -> ApiResult<HttpResponse> {
    let removed = api.run(move |app, actor, ()| group::delete(app, actor, &named)).await?;
    respond::ok(NamespaceJson::new(&removed, api.links()))
}

async fn move_into(api: Api, ids: web::Path<(GroupPath, PathId)>) -> ApiResult<HttpResponse> {
    let (GroupPath(named), project) = ids.into_inner();
    let project = ProjectId::from(project);
    let detail = api
        .run(move |app, actor, ()| {
            transfer::into_group(app, actor, &named, project)
                .map_err(|error| ApiError::sentence("Failed to transfer project", error))
        })
        .await?;
    respond::created(GroupDetailJson::new(&detail, api.links()))
}
