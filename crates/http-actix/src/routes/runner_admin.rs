//! Runners as users and administrators see them.

use actix_web::HttpResponse;
use hexforge_application::project;
use hexforge_application::runner::administer::{self, RunnerChanges, ScopeName};
use hexforge_domain::build::Tags;
use hexforge_domain::id::RunnerId;
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::runner_admin::{RunnerDetailsJson, RunnerJson};
use crate::error::ApiResult;
use crate::params::{declared, parameters};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Managing runners");
    let own =
        call::get("/runners", "Lists the specific runners that the caller can access", list_own);
    calls.add(own.list::<RunnerJson<'_>>());
    calls.add(call::get("/runners/all", "Lists all runners", list_all).list::<RunnerJson<'_>>());
    let one = "/runners/{id}";
    calls.add(call::get(one, "Shows a runner", get).ok::<RunnerDetailsJson<'_>>());
    calls.add(call::put(one, "Updates a runner", update).ok::<RunnerDetailsJson<'_>>());
    calls.add(call::delete(one, "Removes a runner", remove).ok::<RunnerJson<'_>>());
    let of_project = "/projects/{id}/runners";
    let list = "Lists the runners of a project and the shared ones";
    calls.add(call::get(of_project, list, list_of_project).list::<RunnerJson<'_>>());
    let enable = call::post(of_project, "Enables a runner for a project", enable);
    calls.add(enable.created::<RunnerJson<'_>>());
    let disable = "Disables a runner for a project";
    let disable = call::delete("/projects/{id}/runners/{runner_id}", disable, self::disable);
    calls.add(disable.ok::<RunnerJson<'_>>());
}

const OWN_SCOPES: &[&str] = &["active", "paused", "online"];
const SCOPES: &[&str] = &["active", "paused", "online", "specific", "shared"];

fn scope(word: Option<&str>) -> Option<ScopeName> {
    Some(match word? {
        "active" => ScopeName::Active,
        "paused" => ScopeName::Paused,
        "online" => ScopeName::Online,
        "specific" => ScopeName::Specific,
        _ => ScopeName::Shared,
    })
}

parameters! {
    struct OwnScope {
        scope: Option<&'static str> = declared::one_of("scope", OWN_SCOPES),
    }
}

parameters! {
    struct AnyScope {
        scope: Option<&'static str> = declared::one_of("scope", SCOPES),
    }
}

parameters! {
    struct RunnerPath {
        id: RunnerId = declared::in_path("id").map(RunnerId),
    }
}

parameters! {
    struct RunnerOfProject {
        id: RunnerId = declared::in_path("runner_id").map(RunnerId),
    }
}

parameters! {
    struct RunnerToEnable {
        id: i64 = declared::integer("runner_id").needed(),
    }
}

parameters!(
    RunnerChanges {
        description: declared::text("description", limit::SHORT),
        active: declared::boolean("active"),
        tags: declared::words("tag_list", limit::SHORT).map_given(Tags::from_iter),
        run_untagged: declared::boolean("run_untagged"),
        locked: declared::boolean("locked"),
    },
    |from| from.at_least_one(&["description", "active", "tag_list", "run_untagged", "locked"])
);

async fn list_own(api: Api<OwnScope>) -> ApiResult<HttpResponse> {
    let page = api.page();
    let found = api
        .run(move |app, actor, given| administer::list_own(app, actor, scope(given.scope), page))
        .await?;
    respond::paged(&api, page, found.as_ref().map(RunnerJson::from))
}

async fn list_all(api: Api<AnyScope>) -> ApiResult<HttpResponse> {
    let page = api.page();
    let found = api
        .run(move |app, actor, given| administer::list_all(app, actor, scope(given.scope), page))
        .await?;
    respond::paged(&api, page, found.as_ref().map(RunnerJson::from))
}

async fn get(api: Api<RunnerPath>) -> ApiResult<HttpResponse> {
    let found = api.run(|app, actor, path| administer::get(app, actor, path.id)).await?;
    respond::ok(RunnerDetailsJson::new(&found, api.links()))
}

async fn update(api: Api<(RunnerPath, RunnerChanges)>) -> ApiResult<HttpResponse> {
    let changed = api
        .run(|app, actor, (path, changes)| administer::update(app, actor, path.id, &changes))
        .await?;
    respond::ok(RunnerDetailsJson::new(&changed, api.links()))
}

async fn remove(api: Api<RunnerPath>) -> ApiResult<HttpResponse> {
    let gone = api.run(|app, actor, path| administer::remove(app, actor, path.id)).await?;
    respond::ok(RunnerJson::from(&gone))
}

async fn list_of_project(
    api: Api<AnyScope>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let page = api.page();
    let found = api
        .run_unread(move |app, actor, unread| {
            project::authorize_administration(app, actor, &named)?;
            let scope = scope(unread.read()?.scope);
            Ok(administer::list_of_project(app, actor, &named, scope, page)?)
        })
        .await?;
    respond::paged(&api, page, found.as_ref().map(RunnerJson::from))
}

async fn enable(
    api: Api<RunnerToEnable>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let enabled = api
        .run_unread(move |app, actor, unread| {
            project::authorize_administration(app, actor, &named)?;
            let id = RunnerId(unread.read()?.id);
            Ok(administer::enable(app, actor, &named, id)?)
        })
        .await?;
    respond::created(RunnerJson::from(&enabled))
}

async fn disable(
    api: Api<RunnerOfProject>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let disabled = api
        .run_unread(move |app, actor, unread| {
            project::authorize_administration(app, actor, &named)?;
            Ok(administer::disable(app, actor, &named, unread.read()?.id)?)
        })
        .await?;
    respond::ok(RunnerJson::from(&disabled))
}
