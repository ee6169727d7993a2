//! Notification settings of the caller.

use actix_web::HttpResponse;
use hexforge_application::notification::{self, NotificationFields, NotificationTarget};
use hexforge_domain::notification::NotificationEvent;
use hexforge_domain::text::limit;

use super::ids::{GroupPath, ProjectPath};
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::notification::NotificationSettingsJson;
use crate::error::ApiResult;
use crate::params::{declared, nested, parameters};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Notification settings");
    let path = "/notification_settings";
    let shows = "Shows the caller's notification settings for everything";
    calls.add(call::get(path, shows, get).ok::<NotificationSettingsJson<'_>>());
    let changes = "Changes the caller's notification settings for everything";
    calls.add(call::put(path, changes, update).ok::<NotificationSettingsJson<'_>>());
    let path = "/groups/{id}/notification_settings";
    let shows = "Shows the caller's notification settings for a group";
    calls.add(call::get(path, shows, get_of_group).ok::<NotificationSettingsJson<'_>>());
    let changes = "Changes the caller's notification settings for a group";
    calls.add(call::put(path, changes, update_of_group).ok::<NotificationSettingsJson<'_>>());
    let path = "/projects/{id}/notification_settings";
    let shows = "Shows the caller's notification settings for a project";
    calls.add(call::get(path, shows, get_of_project).ok::<NotificationSettingsJson<'_>>());
    let changes = "Changes the caller's notification settings for a project";
    calls.add(call::put(path, changes, update_of_project).ok::<NotificationSettingsJson<'_>>());
}

parameters! {
    struct Settings {
        level: Option<String> = declared::text("level", limit::SHORT),
        new_note: Option<bool> = declared::boolean("new_note"),
        new_issue: Option<bool> = declared::boolean("new_issue"),
        reopen_issue: Option<bool> = declared::boolean("reopen_issue"),
        close_issue: Option<bool> = declared::boolean("close_issue"),
        reassign_issue: Option<bool> = declared::boolean("reassign_issue"),
        new_merge_request: Option<bool> = declared::boolean("new_merge_request"),
        reopen_merge_request: Option<bool> = declared::boolean("reopen_merge_request"),
        close_merge_request: Option<bool> = declared::boolean("close_merge_request"),
        reassign_merge_request: Option<bool> = declared::boolean("reassign_merge_request"),
        merge_merge_request: Option<bool> = declared::boolean("merge_merge_request"),
        failed_pipeline: Option<bool> = declared::boolean("failed_pipeline"),
        success_pipeline: Option<bool> = declared::boolean("success_pipeline"),
    }
}

impl From<Settings> for NotificationFields {
    fn from(given: Settings) -> Self {
        use NotificationEvent as Event;
        let events = [
            (Event::NewNote, given.new_note),
            (Event::NewIssue, given.new_issue),
            (Event::ReopenIssue, given.reopen_issue),
            (Event::CloseIssue, given.close_issue),
            (Event::ReassignIssue, given.reassign_issue),
            (Event::NewMergeRequest, given.new_merge_request),
            (Event::ReopenMergeRequest, given.reopen_merge_request),
            (Event::CloseMergeRequest, given.close_merge_request),
            (Event::ReassignMergeRequest, given.reassign_merge_request),
            (Event::MergeMergeRequest, given.merge_merge_request),
            (Event::FailedPipeline, given.failed_pipeline),
            (Event::SuccessPipeline, given.success_pipeline),
        ];
        let events = events.into_iter().filter_map(|(event, wanted)| Some((event, wanted?)));
        Self { level: given.level, events: events.collect(), address: None }
    }
}

parameters! {
    struct GlobalSettings {
        settings: Settings = nested::<Settings>(),
        address: Option<String> = declared::text("notification_email", limit::SHORT),
    }
}

async fn get(api: Api) -> ApiResult<HttpResponse> {
    show(api, NotificationTarget::Global).await
}

async fn get_of_group(api: Api, GroupPath(named): GroupPath) -> ApiResult<HttpResponse> {
    show(api, NotificationTarget::Group(named)).await
}

async fn get_of_project(api: Api, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    show(api, NotificationTarget::Project(named)).await
}

async fn update(api: Api<GlobalSettings>) -> ApiResult<HttpResponse> {
    let view = api
        .run(move |app, actor, GlobalSettings { settings, address }| {
            let fields = NotificationFields { address, ..settings.into() };
            notification::update(app, actor, &NotificationTarget::Global, fields)
        })
        .await?;
    respond::ok(NotificationSettingsJson::from(&view))
}

async fn update_of_group(
    api: Api<Settings>,
    GroupPath(named): GroupPath,
) -> ApiResult<HttpResponse> {
    change(api, NotificationTarget::Group(named)).await
}

async fn update_of_project(
    api: Api<Settings>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    change(api, NotificationTarget::Project(named)).await
}

async fn show(api: Api, target: NotificationTarget) -> ApiResult<HttpResponse> {
    let view = api.run(move |app, actor, ()| notification::get(app, actor, &target)).await?;
    respond::ok(NotificationSettingsJson::from(&view))
}

async fn change(api: Api<Settings>, target: NotificationTarget) -> ApiResult<HttpResponse> {
    let view = api
        .run(move |app, actor, settings| notification::update(app, actor, &target, settings.into()))
        .await?;
    respond::ok(NotificationSettingsJson::from(&view))
}
