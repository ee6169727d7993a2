//! Labels of projects.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use hexforge_application::label::{self, LabelChanges, LabelFields};
use hexforge_domain::label::LabelRef;
use hexforge_domain::subscription::SubscriptionCommand;
use hexforge_domain::text::limit;
use serde_json::json;

use super::ids::ProjectPath;
use super::table::Table;
use crate::api::Api;
use crate::entities::label::LabelJson;
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description};
use crate::respond;

/// Adds the routes.
pub fn configure(cfg: &mut Table) {
    cfg.route("/projects/{id}/labels", web::get().to(list));
    cfg.route("/projects/{id}/labels", web::post().to(create));
    cfg.route("/projects/{id}/labels", web::put().to(update));
    cfg.route("/projects/{id}/labels", web::delete().to(delete));
    let subscription = "/projects/{id}/labels/{label}/subscription";
    cfg.route(subscription, web::post().to(subscribe));
    cfg.route(subscription, web::delete().to(unsubscribe));
}

/// Describes the routes.
pub fn describe(to: &mut Description) {
    to.section("Labels");
    let all = "/projects/:id/labels";
    to.add(doc::get(all, "Labels").list::<LabelJson<'_>>());
    let (name, color) =
        (doc::text("name", limit::SHORT).needed(), doc::text("color", limit::COLOR).needed());
    let (description, priority) =
        (doc::text("description", limit::LABEL_DESCRIPTION), doc::integer("priority"));
    let fields = [name, color, description, priority];
    let made = to.dialect().created_label();
    to.add(doc::post(all, "Makes a label").takes(&fields).with::<LabelJson<'_>>(made));
    let changes = [
        name,
        doc::text("new_name", limit::SHORT),
        doc::text("color", limit::COLOR),
        description,
        priority,
    ];
    to.add(doc::put(all, "Changes a label").takes(&changes).ok::<LabelJson<'_>>());
    to.add(doc::delete(all, "Removes a label").takes(&[name]).ok::<LabelJson<'_>>());
    let subscription = format!("{all}/:label_id/subscription");
    let subscribe = doc::post(&subscription, "Subscribes the caller");
    to.add(subscribe.made::<LabelJson<'_>>().unchanged());
    let unsubscribe = doc::delete(&subscription, "Ends the subscription");
    to.add(unsubscribe.ok::<LabelJson<'_>>().unchanged());
}

async fn list(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), page) = (id.into_inner(), api.page_of_short_list());
    let labels = api.run(move |app, actor, _| Ok(label::list(app, actor, &named, page)?)).await?;
    respond::paged(&api, page, labels.as_ref().map(LabelJson::from))
}

async fn create(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), rule) = (id.into_inner(), api.dialect().color_rule());
    let made = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let fields = LabelFields {
                name: declared.required_text("name"),
                color: declared.required_text("color"),
                description: declared.text("description"),
                priority: declared.integer("priority"),
            };
            declared.finish()?;
            Ok(label::create(app, actor, &named, rule, &fields)?)
        })
        .await?;
    respond::with(api.dialect().created_label(), LabelJson::from(&made))
}

async fn update(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), dialect) = (id.into_inner(), api.dialect());
    let changed = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let name = declared.required_text("name");
            let priority = declared.integer("priority");
            let changes = LabelChanges {
                new_name: declared.text("new_name"),
                color: declared.text("color"),
                description: declared.text("description"),
                priority: params.has("priority").then_some(priority),
            };
            declared.at_least_one(dialect.changes_of_a_label(|name| params.has(name)));
            declared.finish()?;
            Ok(label::update(app, actor, &named, dialect.color_rule(), &name, &changes)?)
        })
        .await?;
    respond::ok(LabelJson::from(&changed))
}

async fn delete(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let ProjectPath(named) = id.into_inner();
    let gone = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let name = declared.required_text("name");
            declared.finish()?;
            Ok(label::delete(app, actor, &named, &name)?)
        })
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
        .run(move |app, actor, _| Ok(label::subscribe(app, actor, &named, &label, command)?))
        .await?;
    respond::changed(status, change, |view| json!(LabelJson::from(view)))
}
