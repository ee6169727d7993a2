//! Projects: their lists, and one project.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use hexforge_application::event;
use hexforge_application::project::fields::{FeatureFields, ProjectFields};
use hexforge_application::project::share::ShareFields;
use hexforge_application::project::{
    self, ProjectList, ProjectListing, archive, create, edit, fork, share, star,
};
use hexforge_domain::id::{NamespaceId, UserId};
use hexforge_domain::project::ArchiveCommand;
use hexforge_domain::project::query::ProjectOrder;
use hexforge_domain::project::star::StarCommand;
use hexforge_domain::text::limit;
use hexforge_domain::visibility::Visibility;
use serde_json::json;

use super::ids::{PathId, ProjectPath};
use super::table::Table;
use crate::api::Api;
use crate::entities::event::EventJson;
use crate::entities::project::{ProjectJson, ProjectShape, ShareJson, SimpleProjectJson};
use crate::error::{ApiError, ApiResult};
use crate::openapi::{self as doc, Description, Param};
use crate::params::{Params, check_search};
use crate::respond;

/// Adds the routes.
pub fn configure(cfg: &mut Table) {
    cfg.route("/projects", web::get().to(list_own));
    cfg.route("/projects", web::post().to(create_own));
    cfg.route("/projects/visible", web::get().to(list_visible));
    cfg.route("/projects/owned", web::get().to(list_owned));
    cfg.route("/projects/starred", web::get().to(list_starred));
    cfg.route("/projects/all", web::get().to(list_all));
    cfg.route("/projects/search/{query}", web::get().to(search));
    cfg.route("/projects/fork/{id}", web::post().to(create_fork));
    cfg.route("/projects/user/{user}", web::post().to(create_for_user));
    cfg.route("/projects/{id}", web::get().to(get));
    cfg.route("/projects/{id}", web::put().to(update));
    cfg.route("/projects/{id}", web::delete().to(delete));
    cfg.route("/projects/{id}/events", web::get().to(events));
    cfg.route("/projects/{id}/star", web::post().to(add_star));
    cfg.route("/projects/{id}/star", web::delete().to(remove_star));
    cfg.route("/projects/{id}/archive", web::post().to(archive_it));
    cfg.route("/projects/{id}/unarchive", web::post().to(unarchive_it));
    cfg.route("/projects/{id}/share", web::post().to(create_share));
}

/// What may be said about any list of projects.
pub(super) const LISTING: [Param; 6] = [
    doc::boolean("archived"),
    doc::one_of("visibility", &["public", "internal", "private"]),
    doc::text("search", limit::SHORT),
    doc::one_of(
        "order_by",
        &["id", "name", "path", "created_at", "updated_at", "last_activity_at"],
    ),
    doc::one_of("sort", &["asc", "desc"]),
    doc::boolean("ci_enabled_first"),
];

/// What may be said of a project, beside its name.
const FIELDS: [Param; 19] = [
    doc::text("path", limit::SHORT),
    doc::text("description", limit::DESCRIPTION),
    doc::boolean("public"),
    doc::integer("visibility_level"),
    doc::text("import_url", limit::URL),
    doc::text("default_branch", limit::REF_NAME),
    doc::boolean("issues_enabled"),
    doc::boolean("merge_requests_enabled"),
    doc::boolean("wiki_enabled"),
    doc::boolean("builds_enabled"),
    doc::boolean("snippets_enabled"),
    doc::boolean("container_registry_enabled"),
    doc::boolean("shared_runners_enabled"),
    doc::boolean("public_builds"),
    doc::boolean("lfs_enabled"),
    doc::boolean("only_allow_merge_if_build_succeeds"),
    doc::boolean("only_allow_merge_if_all_discussions_are_resolved"),
    doc::boolean("request_access_enabled"),
    doc::text("build_coverage_regex", limit::SHORT),
];

/// Describes the routes.
pub fn describe(to: &mut Description) {
    to.section("Projects");
    let simple = [doc::boolean("simple")];
    for (path, about) in [
        ("/projects", "Projects of which the caller is a member"),
        ("/projects/visible", "Projects that the caller sees"),
    ] {
        let list = doc::get(path, about).takes(&LISTING).takes(&simple);
        to.add(list.list::<ProjectShape>().or::<SimpleProjectJson<'_>>());
    }
    for (path, about) in [
        ("/projects/owned", "Projects that the caller owns"),
        ("/projects/starred", "Projects that the caller starred"),
        ("/projects/all", "All projects"),
        ("/projects/search/:query", "Projects with a text in name or path"),
    ] {
        to.add(doc::get(path, about).takes(&LISTING).list::<ProjectShape>());
    }
    let (name, namespace) = (doc::text("name", limit::SHORT), doc::integer("namespace_id"));
    let create = doc::post("/projects", "Makes a project").takes(&[name.needed(), namespace]);
    to.add(create.takes(&FIELDS).made::<ProjectShape>());
    let create = doc::post("/projects/user/:user_id", "Makes a project for a user");
    let create = create.takes(&[name.needed(), namespace]);
    to.add(create.takes(&FIELDS).made::<ProjectShape>());
    let one = "/projects/:id";
    to.add(doc::get(one, "A project").ok::<ProjectShape>());
    let update = doc::put(one, "Changes a project").takes(&[name]).takes(&FIELDS);
    to.add(update.ok::<ProjectShape>());
    to.add(doc::delete(one, "Removes a project").yes_or_no());
    to.add(doc::get("/projects/:id/events", "Activity").list::<EventJson<'_>>());
    let star = "/projects/:id/star";
    to.add(doc::post(star, "Stars a project").made::<ProjectShape>().unchanged());
    to.add(doc::delete(star, "Takes the star back").ok::<ProjectShape>().unchanged());
    to.add(doc::post("/projects/:id/archive", "Archives a project").made::<ProjectShape>());
    to.add(doc::post("/projects/:id/unarchive", "Revives a project").made::<ProjectShape>());
    let fork = doc::post("/projects/fork/:id", "Forks a project");
    to.add(fork.takes(&[doc::text("namespace", limit::SHORT)]).made::<ProjectShape>());
    let share = [
        doc::integer("group_id").needed(),
        doc::integer("group_access").needed(),
        doc::date("expires_at"),
    ];
    let create = doc::post("/projects/:id/share", "Shares a project with a group");
    to.add(create.takes(&share).made::<ShareJson>());
}

async fn list_own(api: Api) -> ApiResult<HttpResponse> {
    list_maybe_simple(api, ProjectList::Own).await
}

async fn list_visible(api: Api) -> ApiResult<HttpResponse> {
    list_maybe_simple(api, ProjectList::Visible).await
}

async fn list_owned(api: Api) -> ApiResult<HttpResponse> {
    list_full(api, ProjectList::Owned).await
}

async fn list_starred(api: Api) -> ApiResult<HttpResponse> {
    list_full(api, ProjectList::Starred).await
}

async fn list_all(api: Api) -> ApiResult<HttpResponse> {
    list_full(api, ProjectList::All).await
}

async fn search(api: Api, query: web::Path<String>) -> ApiResult<HttpResponse> {
    let (query, page) = (query.into_inner(), api.page());
    let projects = api
        .run(move |app, actor, params| {
            check_search("query", &query)?;
            let listing = ProjectListing { search: Some(query.clone()), ..read_listing(params)? };
            Ok(project::list(app, actor, ProjectList::Found, &listing, page)?)
        })
        .await?;
    respond::paged(&api, page, projects.as_ref().map(|view| ProjectJson::new(view, api.links())))
}

async fn list_maybe_simple(api: Api, which: ProjectList) -> ApiResult<HttpResponse> {
    if !matches!(api.params().switch("simple"), Ok(Some(true))) {
        return list_full(api, which).await;
    }
    let page = api.page();
    let projects = api
        .run(move |app, actor, params| {
            let listing = read_listing(params)?;
            Ok(project::list_simple(app, actor, which, &listing, page)?)
        })
        .await?;
    let links = api.links();
    respond::paged(&api, page, projects.as_ref().map(|one| SimpleProjectJson::new(one, links)))
}

async fn list_full(api: Api, which: ProjectList) -> ApiResult<HttpResponse> {
    let page = api.page();
    let projects = api
        .run(move |app, actor, params| {
            project::authorize_list(actor, which)?;
            let listing = read_listing(params)?;
            Ok(project::list(app, actor, which, &listing, page)?)
        })
        .await?;
    respond::paged(&api, page, projects.as_ref().map(|view| ProjectJson::new(view, api.links())))
}

/// What may be said about any list of projects. Only a visibility that is none is an error.
pub(super) fn read_listing(params: &Params) -> ApiResult<ProjectListing> {
    let visibility = match params.text("visibility")? {
        None => None,
        Some(word) => Some(
            Visibility::parse(word.trim())
                .ok_or_else(|| ApiError::bad_request("visibility does not have a valid value"))?,
        ),
    };
    Ok(ProjectListing {
        archived: params.switch("archived")?,
        visibility,
        search: params.search("search")?,
        order: ProjectOrder::parse(params.text("order_by")?.as_deref()),
        descending: params.text("sort")?.as_deref() != Some("asc"),
        builds_first: params.switch("ci_enabled_first")?.unwrap_or(false),
    })
}

async fn get(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let ProjectPath(named) = id.into_inner();
    let view = api.run(move |app, actor, _| Ok(project::get(app, actor, &named)?)).await?;
    respond::ok(ProjectJson::new(&view, api.links()))
}

async fn events(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), page) = (id.into_inner(), api.page());
    let events =
        api.run(move |app, actor, _| Ok(event::of_project(app, actor, &named, page)?)).await?;
    respond::paged(&api, page, events.as_ref().map(|event| EventJson::new(event, api.links())))
}

async fn create_own(api: Api) -> ApiResult<HttpResponse> {
    let view = api
        .run(|app, actor, params| {
            let (namespace, fields) = (read_namespace(params)?, read_fields(params)?);
            Ok(create::own(app, actor, namespace, &fields)?)
        })
        .await?;
    respond::created(ProjectJson::new(&view, api.links()))
}

async fn create_for_user(api: Api, user: web::Path<PathId>) -> ApiResult<HttpResponse> {
    let user = UserId::from(user.into_inner());
    let view = api
        .run(move |app, actor, params| {
            create::authorize_for_others(actor)?;
            let (namespace, fields) = (read_namespace(params)?, read_fields(params)?);
            create::for_user(app, actor, user, namespace, &fields)
                .map_err(|error| ApiError::limit_as_field(StatusCode::BAD_REQUEST, error))
        })
        .await?;
    respond::created(ProjectJson::new(&view, api.links()))
}

fn read_namespace(params: &Params) -> ApiResult<Option<NamespaceId>> {
    Ok(params.number("namespace_id")?.map(NamespaceId))
}

fn read_fields(params: &Params) -> ApiResult<ProjectFields> {
    Ok(ProjectFields {
        name: params.text("name")?,
        path: params.text("path")?,
        description: params.text("description")?,
        public: params.said_switch("public")?,
        visibility_level: params.text("visibility_level")?,
        import_url: params.text("import_url")?,
        default_branch: params.text("default_branch")?,
        coverage_expression: params.given_text("build_coverage_regex")?,
        features: FeatureFields {
            issues: params.said_switch("issues_enabled")?,
            merge_requests: params.said_switch("merge_requests_enabled")?,
            wiki: params.said_switch("wiki_enabled")?,
            builds: params.said_switch("builds_enabled")?,
            snippets: params.said_switch("snippets_enabled")?,
            container_registry: params.said_switch("container_registry_enabled")?,
            shared_runners: params.said_switch("shared_runners_enabled")?,
            public_builds: params.said_switch("public_builds")?,
            lfs: params.said_switch("lfs_enabled")?,
            merge_only_if_build_succeeds: params
                .said_switch("only_allow_merge_if_build_succeeds")?,
            merge_only_if_discussions_resolved: params
                .said_switch("only_allow_merge_if_all_discussions_are_resolved")?,
            request_access: params.said_switch("request_access_enabled")?,
        },
    })
}

async fn update(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), rule) = (id.into_inner(), api.dialect().project_name_rule());
    let view = api
        .run(move |app, actor, params| {
            project::authorize_administration(app, actor, &named)?;
            Ok(edit::edit(app, actor, &named, rule, &read_fields(params)?)?)
        })
        .await?;
    respond::ok(ProjectJson::new(&view, api.links()))
}

async fn delete(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let ProjectPath(named) = id.into_inner();
    api.run(move |app, actor, _| Ok(project::delete(app, actor, &named)?)).await?;
    respond::ok(json!(true))
}

async fn add_star(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    change_star(api, id.into_inner(), StarCommand::Star, StatusCode::CREATED).await
}

async fn remove_star(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    change_star(api, id.into_inner(), StarCommand::Unstar, StatusCode::OK).await
}

async fn change_star(
    api: Api,
    ProjectPath(named): ProjectPath,
    command: StarCommand,
    status: StatusCode,
) -> ApiResult<HttpResponse> {
    let change =
        api.run(move |app, actor, _| Ok(star::apply(app, actor, &named, command)?)).await?;
    respond::changed(status, change, |view| json!(ProjectJson::new(view, api.links())))
}

async fn archive_it(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    change_archived(api, id.into_inner(), ArchiveCommand::Archive).await
}

async fn unarchive_it(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    change_archived(api, id.into_inner(), ArchiveCommand::Unarchive).await
}

async fn change_archived(
    api: Api,
    ProjectPath(named): ProjectPath,
    command: ArchiveCommand,
) -> ApiResult<HttpResponse> {
    let view =
        api.run(move |app, actor, _| Ok(archive::apply(app, actor, &named, command)?)).await?;
    respond::created(ProjectJson::new(&view, api.links()))
}

async fn create_fork(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), dialect) = (id.into_inner(), api.dialect());
    let view = api
        .run(move |app, actor, params| {
            let target = dialect.fork_target(params.text("namespace")?)?;
            fork::create(app, actor, &named, &target)
                .map_err(|error| ApiError::limit_as_field(StatusCode::CONFLICT, error))
        })
        .await?;
    respond::created(ProjectJson::new(&view, api.links()))
}

async fn create_share(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let ProjectPath(named) = id.into_inner();
    let made = api
        .run(move |app, actor, params| {
            project::authorize_administration(app, actor, &named)?;
            let fields = ShareFields {
                group_id: params.number("group_id")?,
                group_access: params.number("group_access")?,
                expires_at: params.day("expires_at")?,
            };
            Ok(share::create(app, actor, &named, fields)?)
        })
        .await?;
    respond::created(ShareJson::from(made))
}
