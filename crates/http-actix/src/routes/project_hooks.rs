//! Hooks of projects. Permission to administer the project is checked before the parameters.

use actix_web::HttpResponse;
use hexforge_application::project::hook::{self, HookFields};
use hexforge_application::{delivery, project};
use hexforge_domain::id::{DeliveryId, ProjectHookId};
use hexforge_domain::text::Secret;
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::delivery::DeliveryJson;
use crate::entities::hook::ProjectHookJson;
use crate::error::ApiResult;
use crate::params::{declared, parameters};
use crate::payloads::JsonPayloads;
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Project hooks");
    let all = "/projects/{id}/hooks";
    calls.add(call::get(all, "Lists the hooks of a project", list).list::<ProjectHookJson>());
    calls.add(call::post(all, "Creates a project hook", create).created::<ProjectHookJson>());
    let one = "/projects/{id}/hooks/{hook_id}";
    calls.add(call::get(one, "Shows a project hook", get).ok::<ProjectHookJson>());
    calls.add(call::put(one, "Updates a project hook", update).ok::<ProjectHookJson>());
    calls.add(
        call::delete(one, "Removes a project hook", delete).ok::<ProjectHookJson>().or_empty(),
    );
    let sent = format!("{one}/deliveries");
    let retry =
        call::post(format!("{sent}/{{delivery_id}}/retry"), "Sends a delivery again", retry);
    calls.add(
        call::get(sent, "Lists the deliveries of a project hook", deliveries)
            .list::<DeliveryJson>(),
    );
    calls.add(retry.created::<DeliveryJson>());
}

parameters! {
    struct InPath {
        id: ProjectHookId = declared::in_path("hook_id").map(ProjectHookId),
    }
}

parameters! {
    struct DeliveryInPath {
        delivery: DeliveryId = declared::in_path("delivery_id").map(DeliveryId),
    }
}

parameters!(HookFields {
    url: declared::text("url", limit::URL).needed(),
    push_events: declared::boolean("push_events"),
    issues_events: declared::boolean("issues_events"),
    merge_requests_events: declared::boolean("merge_requests_events"),
    tag_push_events: declared::boolean("tag_push_events"),
    note_events: declared::boolean("note_events"),
    build_events: declared::boolean("build_events"),
    pipeline_events: declared::boolean("pipeline_events"),
    // One client uses the name of the response field also in requests.
    wiki_page_events: declared::boolean("wiki_events")
        .or_else(declared::boolean("wiki_page_events")),
    enable_ssl_verification: declared::boolean("enable_ssl_verification"),
    token: declared::text("token", limit::SHORT).unless_empty().map_given(Secret::new),
});

async fn list(api: Api, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let page = api.page();
    let hooks = api.run(move |app, actor, ()| hook::list(app, actor, &named, page)).await?;
    respond::paged(&api, page, hooks.map(ProjectHookJson::from))
}

async fn get(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let found = api
        .run_unread(move |app, actor, unread| {
            project::authorize_administration(app, actor, &named)?;
            Ok(hook::get(app, actor, &named, unread.read()?.id)?)
        })
        .await?;
    respond::ok(ProjectHookJson::from(found))
}

async fn create(api: Api<HookFields>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let made = api
        .run_unread(move |app, actor, unread| {
            project::authorize_administration(app, actor, &named)?;
            Ok(hook::create(app, actor, &named, &unread.read()?)?)
        })
        .await?;
    respond::created(ProjectHookJson::from(made))
}

async fn update(
    api: Api<(InPath, HookFields)>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let payloads = JsonPayloads::with(api.links());
    let changed = api
        .run_unread(move |app, actor, unread| {
            project::authorize_administration(app, actor, &named)?;
            let (InPath { id }, fields) = unread.read()?;
            delivery::catch_up(app, &payloads)?;
            Ok(hook::update(app, actor, &named, id, &fields)?)
        })
        .await?;
    respond::ok(ProjectHookJson::from(changed))
}

async fn delete(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let dialect = api.dialect();
    let (id, removed) = api
        .run_unread(move |app, actor, unread| {
            project::authorize_administration(app, actor, &named)?;
            let InPath { id } = unread.read()?;
            Ok((id, hook::delete(app, actor, &named, id)?))
        })
        .await?;
    dialect.removed_hook(id, removed)
}

async fn deliveries(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let page = api.page();
    let list = api
        .run_unread(move |app, actor, unread| {
            project::authorize_administration(app, actor, &named)?;
            Ok(hook::deliveries(app, actor, &named, unread.read()?.id, page)?)
        })
        .await?;
    respond::paged(&api, page, list.map(DeliveryJson::from))
}

async fn retry(
    api: Api<(InPath, DeliveryInPath)>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let again = api
        .run_unread(move |app, actor, unread| {
            project::authorize_administration(app, actor, &named)?;
            let (InPath { id }, DeliveryInPath { delivery }) = unread.read()?;
            Ok(hook::retry(app, actor, &named, id, delivery)?)
        })
        .await?;
    respond::created(DeliveryJson::from(again))
}
