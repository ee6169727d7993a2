//! Labels of groups. The original service does not have these calls.

use actix_web::HttpResponse;
use hexforge_application::label::{LabelChanges, LabelFields, group as label};
use hexforge_domain::text::limit;

use super::ids::GroupPath;
use super::labels::LabelName;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::label::LabelJson;
use crate::error::ApiResult;
use crate::params::{declared, parameters};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Labels of groups");
    let all = "/groups/{id}/labels";
    let made = calls.dialect().created();
    calls.add(call::get(all, "Lists the labels of a group", list).list::<LabelJson<'_>>());
    calls.add(call::post(all, "Creates a label of a group", create).with::<LabelJson<'_>>(made));
    calls.add(call::put(all, "Updates a label of a group", update).ok::<LabelJson<'_>>());
    calls.add(call::delete(all, "Removes a label of a group", delete).ok::<LabelJson<'_>>());
}

parameters! {
    struct NewLabel {
        name: String = declared::text("name", limit::SHORT).needed(),
        color: String = declared::text("color", limit::COLOR).needed(),
        description: Option<String> = declared::text("description", limit::LABEL_DESCRIPTION),
    }
}

parameters! {
    struct Changes {
        name: String = declared::text("name", limit::SHORT).needed(),
        new_name: Option<String> = declared::text("new_name", limit::SHORT),
        color: Option<String> = declared::text("color", limit::COLOR),
        description: Option<String> = declared::text("description", limit::LABEL_DESCRIPTION),
    },
    |from| from.at_least_one(from.dialect().label_changes(|name| from.has(name)))
}

async fn list(api: Api, GroupPath(named): GroupPath) -> ApiResult<HttpResponse> {
    let page = api.page_of_short_list();
    let labels = api.run(move |app, actor, ()| label::list(app, actor, &named, page)).await?;
    respond::paged(&api, page, labels.as_ref().map(LabelJson::from))
}

async fn create(api: Api<NewLabel>, GroupPath(named): GroupPath) -> ApiResult<HttpResponse> {
    let rule = api.dialect().color_rule();
    let made = api
        .run(move |app, actor, NewLabel { name, color, description }| {
            let fields = LabelFields { name, color, description, priority: None };
            label::create(app, actor, &named, rule, &fields)
        })
        .await?;
    respond::with(api.dialect().created(), LabelJson::from(&made))
}

async fn update(api: Api<Changes>, GroupPath(named): GroupPath) -> ApiResult<HttpResponse> {
    let rule = api.dialect().color_rule();
    let changed = api
        .run(move |app, actor, Changes { name, new_name, color, description }| {
            let changes = LabelChanges { name, new_name, color, description, priority: None };
            label::update(app, actor, &named, rule, &changes)
        })
        .await?;
    respond::ok(LabelJson::from(&changed))
}

async fn delete(api: Api<LabelName>, GroupPath(named): GroupPath) -> ApiResult<HttpResponse> {
    let gone = api
        .run(move |app, actor, LabelName { name }| label::delete(app, actor, &named, &name))
        .await?;
    respond::ok(LabelJson::from(&gone))
}
