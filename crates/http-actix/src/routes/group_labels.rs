//! Labels of groups, which the interface has beyond the original.

use actix_web::{HttpResponse, web};
use hexforge_application::label::{LabelChanges, LabelFields, group as label};
use hexforge_domain::text::limit;

use super::ids::GroupPath;
use super::table::Table;
use crate::api::Api;
use crate::entities::label::LabelJson;
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description};
use crate::respond;

/// Adds the routes.
pub fn configure(cfg: &mut Table) {
    cfg.route("/groups/{id}/labels", web::get().to(list));
    cfg.route("/groups/{id}/labels", web::post().to(create));
    cfg.route("/groups/{id}/labels", web::put().to(update));
    cfg.route("/groups/{id}/labels", web::delete().to(delete));
}

/// Describes the routes.
pub fn describe(to: &mut Description) {
    to.section("Labels of groups");
    let all = "/groups/:id/labels";
    to.add(doc::get(all, "Labels of a group").list::<LabelJson<'_>>());
    let (name, color) =
        (doc::text("name", limit::SHORT).needed(), doc::text("color", limit::COLOR).needed());
    let fields = [name, color, doc::text("description", limit::LABEL_DESCRIPTION)];
    let made = to.dialect().created_label();
    to.add(doc::post(all, "Makes a label").takes(&fields).with::<LabelJson<'_>>(made));
    let changes = [
        name,
        doc::text("new_name", limit::SHORT),
        doc::text("color", limit::COLOR),
        doc::text("description", limit::LABEL_DESCRIPTION),
    ];
    to.add(doc::put(all, "Changes a label").takes(&changes).ok::<LabelJson<'_>>());
    to.add(doc::delete(all, "Removes a label").takes(&[name]).ok::<LabelJson<'_>>());
}

async fn list(api: Api, id: web::Path<GroupPath>) -> ApiResult<HttpResponse> {
    let (GroupPath(named), page) = (id.into_inner(), api.page_of_short_list());
    let labels = api.run(move |app, actor, _| Ok(label::list(app, actor, &named, page)?)).await?;
    respond::paged(&api, page, labels.as_ref().map(LabelJson::from))
}

async fn create(api: Api, id: web::Path<GroupPath>) -> ApiResult<HttpResponse> {
    let (GroupPath(named), rule) = (id.into_inner(), api.dialect().color_rule());
    let made = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let fields = LabelFields {
                name: declared.required_text("name"),
                color: declared.required_text("color"),
                description: declared.text("description"),
                priority: None,
            };
            declared.finish()?;
            Ok(label::create(app, actor, &named, rule, &fields)?)
        })
        .await?;
    respond::with(api.dialect().created_label(), LabelJson::from(&made))
}

async fn update(api: Api, id: web::Path<GroupPath>) -> ApiResult<HttpResponse> {
    let (GroupPath(named), dialect) = (id.into_inner(), api.dialect());
    let changed = api
        .run(move |app, actor, params| {
            let mut declared = params.declared();
            let name = declared.required_text("name");
            let changes = LabelChanges {
                new_name: declared.text("new_name"),
                color: declared.text("color"),
                description: declared.text("description"),
                priority: None,
            };
            declared.at_least_one(dialect.changes_of_a_label(|name| params.has(name)));
            declared.finish()?;
            Ok(label::update(app, actor, &named, dialect.color_rule(), &name, &changes)?)
        })
        .await?;
    respond::ok(LabelJson::from(&changed))
}

async fn delete(api: Api, id: web::Path<GroupPath>) -> ApiResult<HttpResponse> {
    let GroupPath(named) = id.into_inner();
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
