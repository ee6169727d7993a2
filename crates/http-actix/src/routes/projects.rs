//! Projects: their lists, and one project.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use hexforge_application::event;
use hexforge_application::project::fields::{FeatureFields, ProjectFields};
use hexforge_application::project::share::ShareFields;
use hexforge_application::project::{
    self, ProjectList, ProjectListing, archive as archiving, create, edit, fork, share, star,
};
use hexforge_application::view::project::ProjectView;
use hexforge_domain::id::{NamespaceId, UserId};
use hexforge_domain::paging::Paged;
use hexforge_domain::project::query::ProjectOrder;
use hexforge_domain::project::star::StarCommand;
use hexforge_domain::project::{ArchiveCommand, ProjectWithNamespace};
use hexforge_domain::text::limit;
use serde_json::json;

use super::ids::{PathId, ProjectPath};
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::event::EventJson;
use crate::entities::project::{ProjectJson, ShareJson, SimpleProjectJson};
use crate::error::{ApiError, ApiResult};
use crate::params::{check_search, nested, parameters, picked};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Projects");
    for list in [
        call::get("/projects", "Lists the projects of which the caller is a member", list_own),
        call::get("/projects/visible", "Lists the projects that the caller may see", list_visible),
    ] {
        calls.add(list.list::<ProjectJson<'_>>().or::<SimpleProjectJson<'_>>());
    }
    for list in [
        call::get("/projects/owned", "Lists the projects that the caller owns", list_owned),
        call::get("/projects/starred", "Lists the projects that the caller starred", list_starred),
        call::get("/projects/all", "Lists all projects, for administrators", list_all),
        call::get(
            "/projects/search/{query}",
            "Lists projects with a text in their name or path",
            search,
        ),
    ] {
        calls.add(list.list::<ProjectJson<'_>>());
    }
    calls
        .add(call::post("/projects", "Creates a project", create_own).created::<ProjectJson<'_>>());
    let for_user = "/projects/user/{user_id}";
    let for_user = call::post(for_user, "Creates a project for a user", create_for_user);
    calls.add(for_user.created::<ProjectJson<'_>>());
    let one = "/projects/{id}";
    calls.add(call::get(one, "Shows a project", get).ok::<ProjectJson<'_>>());
    calls.add(call::put(one, "Updates a project", update).ok::<ProjectJson<'_>>());
    calls.add(call::delete(one, "Removes a project", delete).boolean());
    calls.add(
        call::get("/projects/{id}/events", "Lists the events of a project", events)
            .list::<EventJson<'_>>(),
    );
    let star = "/projects/{id}/star";
    let add = call::post(star, "Stars a project", add_star);
    calls.add(add.created::<ProjectJson<'_>>().unchanged());
    let remove = call::delete(star, "Removes the star of the caller", remove_star);
    calls.add(remove.ok::<ProjectJson<'_>>().unchanged());
    let archive = call::post("/projects/{id}/archive", "Archives a project", archive);
    calls.add(archive.created::<ProjectJson<'_>>());
    let unarchive = call::post("/projects/{id}/unarchive", "Unarchives a project", unarchive);
    calls.add(unarchive.created::<ProjectJson<'_>>());
    let fork = call::post("/projects/fork/{id}", "Forks a project", create_fork);
    calls.add(fork.created::<ProjectJson<'_>>());
    let share = "/projects/{id}/share";
    let share = call::post(share, "Shares a project with a group", create_share);
    calls.add(share.created::<ShareJson>());
}

const ORDERS: &[&str] = &["id", "name", "path", "created_at", "updated_at", "last_activity_at"];

parameters!(ProjectListing {
    archived: picked::switch("archived"),
    visibility: picked::visibility("visibility"),
    search: picked::search("search", limit::SHORT),
    order: picked::word("order_by", ORDERS).map(|word| ProjectOrder::parse(word.as_deref())),
    descending: picked::word("sort", &["asc", "desc"]).map(|word| word.as_deref() != Some("asc")),
    builds_first: picked::switch("ci_enabled_first").otherwise(false),
});

parameters! {
    struct Simple {
        simple: bool = picked::lenient_switch("simple").otherwise(false),
    }
}

parameters! {
    struct NewProject {
        namespace: Option<NamespaceId> = picked::number("namespace_id").map_given(NamespaceId),
        fields: ProjectFields = nested::<ProjectFields>().expecting(&["name"]),
    }
}

parameters!(ProjectFields {
    name: picked::text("name", limit::SHORT),
    path: picked::text("path", limit::SHORT),
    description: picked::text("description", limit::DESCRIPTION),
    public: picked::switch_or_false("public"),
    visibility_level: picked::text_of_number("visibility_level"),
    import_url: picked::text("import_url", limit::URL),
    default_branch: picked::text("default_branch", limit::REF_NAME),
    coverage_expression: picked::possibly_empty_text("build_coverage_regex", limit::SHORT),
    build_timeout: picked::number("build_timeout"),
    build_git_fetch: picked::switch("build_allow_git_fetch"),
    features: nested::<FeatureFields>(),
});

parameters!(FeatureFields {
    issues: picked::switch_or_false("issues_enabled"),
    merge_requests: picked::switch_or_false("merge_requests_enabled"),
    wiki: picked::switch_or_false("wiki_enabled"),
    builds: picked::switch_or_false("builds_enabled"),
    snippets: picked::switch_or_false("snippets_enabled"),
    container_registry: picked::switch_or_false("container_registry_enabled"),
    shared_runners: picked::switch_or_false("shared_runners_enabled"),
    public_builds: picked::switch_or_false("public_builds"),
    lfs: picked::switch_or_false("lfs_enabled"),
    merge_only_if_build_succeeds: picked::switch_or_false("only_allow_merge_if_build_succeeds"),
    merge_only_if_discussions_resolved: picked::switch_or_false(
        "only_allow_merge_if_all_discussions_are_resolved"
    ),
    request_access: picked::switch_or_false("request_access_enabled"),
});

parameters! {
    struct ForkInto {
        namespace: Option<String> = picked::text("namespace", limit::SHORT),
    }
}

parameters!(ShareFields {
    group_id: picked::number("group_id").expected(),
    group_access: picked::number("group_access").expected(),
    expires_at: picked::day("expires_at"),
});

async fn list_own(api: Api<(ProjectListing, Simple)>) -> ApiResult<HttpResponse> {
    list_maybe_simple(api, ProjectList::Own).await
}

async fn list_visible(api: Api<(ProjectListing, Simple)>) -> ApiResult<HttpResponse> {
    list_maybe_simple(api, ProjectList::Visible).await
}

async fn list_owned(api: Api<ProjectListing>) -> ApiResult<HttpResponse> {
    list_full(api, ProjectList::Owned).await
}

async fn list_starred(api: Api<ProjectListing>) -> ApiResult<HttpResponse> {
    list_full(api, ProjectList::Starred).await
}

async fn list_all(api: Api<ProjectListing>) -> ApiResult<HttpResponse> {
    list_full(api, ProjectList::All).await
}

async fn search(api: Api<ProjectListing>, query: web::Path<String>) -> ApiResult<HttpResponse> {
    let (query, page) = (query.into_inner(), api.page());
    let projects = api
        .run_unread(move |app, actor, unread| {
            check_search("query", &query)?;
            let listing = ProjectListing { search: Some(query.clone()), ..unread.read()? };
            Ok(project::list(app, actor, ProjectList::Found, &listing, page)?)
        })
        .await?;
    respond::paged(&api, page, projects.as_ref().map(|view| ProjectJson::new(view, api.links())))
}

async fn list_maybe_simple(
    api: Api<(ProjectListing, Simple)>,
    which: ProjectList,
) -> ApiResult<HttpResponse> {
    let page = api.page();
    let found = api
        .run(move |app, actor, (listing, Simple { simple })| match simple {
            true => project::list_simple(app, actor, which, &listing, page).map(Listed::Simple),
            false => project::list(app, actor, which, &listing, page).map(Listed::Full),
        })
        .await?;
    let links = api.links();
    match &found {
        Listed::Simple(projects) => {
            let shown = projects.as_ref().map(|one| SimpleProjectJson::new(one, links));
            respond::paged(&api, page, shown)
        }
        Listed::Full(projects) => {
            respond::paged(&api, page, projects.as_ref().map(|one| ProjectJson::new(one, links)))
        }
    }
}

/// A page of projects, full or simple.
enum Listed {
    Simple(Paged<ProjectWithNamespace>),
    Full(Paged<ProjectView>),
}

async fn list_full(api: Api<ProjectListing>, which: ProjectList) -> ApiResult<HttpResponse> {
    let page = api.page();
    let projects = api
        .run_unread(move |app, actor, unread| {
            project::authorize_list(actor, which)?;
            Ok(project::list(app, actor, which, &unread.read()?, page)?)
        })
        .await?;
    respond::paged(&api, page, projects.as_ref().map(|view| ProjectJson::new(view, api.links())))
}

async fn get(api: Api, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let view = api.run(move |app, actor, ()| project::get(app, actor, &named)).await?;
    respond::ok(ProjectJson::new(&view, api.links()))
}

async fn events(api: Api, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let page = api.page();
    let events =
        api.run(move |app, actor, ()| event::list_of_project(app, actor, &named, page)).await?;
    respond::paged(&api, page, events.as_ref().map(|event| EventJson::new(event, api.links())))
}

async fn create_own(api: Api<NewProject>) -> ApiResult<HttpResponse> {
    let view = api
        .run(|app, actor, NewProject { namespace, fields }| {
            create::create_own(app, actor, namespace, &fields)
        })
        .await?;
    respond::created(ProjectJson::new(&view, api.links()))
}

async fn create_for_user(api: Api<NewProject>, user: web::Path<PathId>) -> ApiResult<HttpResponse> {
    let user = UserId::from(user.into_inner());
    let view = api
        .run_unread(move |app, actor, unread| {
            create::authorize_for_others(actor)?;
            let NewProject { namespace, fields } = unread.read()?;
            create::create_for_user(app, actor, user, namespace, &fields)
                .map_err(|error| ApiError::limit_as_field(StatusCode::BAD_REQUEST, error))
        })
        .await?;
    respond::created(ProjectJson::new(&view, api.links()))
}

async fn update(
    api: Api<ProjectFields>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let rule = api.dialect().project_name_rule();
    let view = api
        .run_unread(move |app, actor, unread| {
            project::authorize_administration(app, actor, &named)?;
            Ok(edit::edit(app, actor, &named, rule, &unread.read()?)?)
        })
        .await?;
    respond::ok(ProjectJson::new(&view, api.links()))
}

async fn delete(api: Api, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    api.run(move |app, actor, ()| project::delete(app, actor, &named)).await?;
    respond::ok(json!(true))
}

async fn add_star(api: Api, project: ProjectPath) -> ApiResult<HttpResponse> {
    change_star(api, project, StarCommand::Star, StatusCode::CREATED).await
}

async fn remove_star(api: Api, project: ProjectPath) -> ApiResult<HttpResponse> {
    change_star(api, project, StarCommand::Unstar, StatusCode::OK).await
}

async fn change_star(
    api: Api,
    ProjectPath(named): ProjectPath,
    command: StarCommand,
    status: StatusCode,
) -> ApiResult<HttpResponse> {
    let change = api.run(move |app, actor, ()| star::apply(app, actor, &named, command)).await?;
    respond::changed(status, change, |view| json!(ProjectJson::new(view, api.links())))
}

async fn archive(api: Api, project: ProjectPath) -> ApiResult<HttpResponse> {
    change_archived(api, project, ArchiveCommand::Archive).await
}

async fn unarchive(api: Api, project: ProjectPath) -> ApiResult<HttpResponse> {
    change_archived(api, project, ArchiveCommand::Unarchive).await
}

async fn change_archived(
    api: Api,
    ProjectPath(named): ProjectPath,
    command: ArchiveCommand,
) -> ApiResult<HttpResponse> {
    let view = api.run(move |app, actor, ()| archiving::apply(app, actor, &named, command)).await?;
    respond::created(ProjectJson::new(&view, api.links()))
}

async fn create_fork(
    api: Api<ForkInto>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let dialect = api.dialect();
    let view = api
        .run(move |app, actor, ForkInto { namespace }| {
            let target = dialect.fork_target(namespace)?;
            fork::create(app, actor, &named, &target)
                .map_err(|error| ApiError::limit_as_field(StatusCode::CONFLICT, error))
        })
        .await?;
    respond::created(ProjectJson::new(&view, api.links()))
}

async fn create_share(
    api: Api<ShareFields>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let made = api
        .run_unread(move |app, actor, unread| {
            project::authorize_administration(app, actor, &named)?;
            Ok(share::create(app, actor, &named, unread.read()?)?)
        })
        .await?;
    respond::created(ShareJson::from(made))
}
