//! Labels of projects.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use hexforge_application::label::{self, LabelChanges, LabelFields};
use hexforge_domain::label::LabelRef;
use hexforge_domain::subscription::SubscriptionCommand;
use hexforge_domain::text::limit;
use serde_json::json;

use super::ids::ProjectPath;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::label::LabelJson;
use crate::error::ApiResult;
use crate::params::{declared, parameters};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Labels");
    let all = "/projects/{id}/labels";
    let made = calls.dialect().created();
    calls.add(call::get(all, "Lists the labels of a project", list).list::<LabelJson<'_>>());
    calls.add(call::post(all, "Creates a label", create).with::<LabelJson<'_>>(made));
    calls.add(call::put(all, "Updates a label", update).ok::<LabelJson<'_>>());
    calls.add(call::delete(all, "Removes a label", delete).ok::<LabelJson<'_>>());
    let subscription = "/projects/{id}/labels/{label_id}/subscription";
    let subscribe = call::post(subscription, "Subscribes the caller to a label", subscribe);
    calls.add(subscribe.created::<LabelJson<'_>>().unchanged());
    let unsubscribe =
        call::delete(subscription, "Unsubscribes the caller from a label", unsubscribe);
    calls.add(unsubscribe.ok::<LabelJson<'_>>().unchanged());
}

parameters!(LabelFields {
    name: declared::text("name", limit::SHORT).needed(),
    color: declared::text("color", limit::COLOR).needed(),
    description: declared::text("description", limit::LABEL_DESCRIPTION),
    priority: declared::integer("priority"),
});

parameters! {
    /// The name of a label.
    pub(super) struct LabelName {
        name: String = declared::text("name", limit::SHORT).needed(),
    }
}

parameters! {
    LabelChanges {
        name: declared::text("name", limit::SHORT).needed(),
        new_name: declared::text("new_name", limit::SHORT),
        color: declared::text("color", limit::COLOR),
        description: declared::text("description", limit::LABEL_DESCRIPTION),
        priority: declared::integer("priority").or_cleared(),
    },
    |from| from.at_least_one(from.dialect().label_changes(|name| from.has(name)))
}

async fn list(api: Api, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let page = api.page_of_short_list();
    let labels = api.run(move |app, actor, ()| label::list(app, actor, &named, page)).await?;
    respond::paged(&api, page, labels.as_ref().map(LabelJson::from))
}

async fn create(api: Api<LabelFields>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let (dialect, rule) = (api.dialect(), api.dialect().color_rule());
    let made =
        api.run(move |app, actor, fields| label::create(app, actor, &named, rule, &fields)).await?;
    respond::with(dialect.created(), LabelJson::from(&made))
}

async fn update(
    api: Api<LabelChanges>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let rule = api.dialect().color_rule();
    let changed = api
        .run(move |app, actor, changes| label::update(app, actor, &named, rule, &changes))
        .await?;
    respond::ok(LabelJson::from(&changed))
}

async fn delete(api: Api<LabelName>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let gone = api
        .run(move |app, actor, LabelName { name }| label::delete(app, actor, &named, &name))
        .await?;
    respond::ok(LabelJson::from(&gone))
}

async fn subscribe(api: Api, ids: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    change(api, ids.into_inner(), SubscriptionCommand::Subscribe, StatusCode::CREATED).await
}

async fn unsubscribe(api: Api, ids: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    change(api, ids.into_inner(), SubscriptionCommand::Unsubscribe, StatusCode::OK).await
}

async fn change(
    api: Api,
    (ProjectPath(named), label): (ProjectPath, String),
    command: SubscriptionCommand,
    status: StatusCode,
) -> ApiResult<HttpResponse> {
    let label = LabelRef(label);
    let change = api
        .run(move |app, actor, ()| label::subscribe(app, actor, &named, &label, command))
        .await?;
    respond::changed(status, change, |view| json!(LabelJson::from(view)))
}
