//! Tags and releases. Who may not read the code is told so before the parameters are read.

use actix_web::{HttpResponse, web};
use hexforge_application::repository;
use hexforge_application::tag::{self, NewTag, release};
use hexforge_domain::text::limit;
use serde::Serialize;
use utoipa::ToSchema;

use super::ids::ProjectPath;
use super::table::Table;
use crate::api::Api;
use crate::entities::tag::{ReleaseJson, TagJson};
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description};
use crate::params::Params;
use crate::respond;

/// Adds the routes. Names of tags take all that is left of the path.
pub fn configure(cfg: &mut Table) {
    cfg.route("/projects/{id}/repository/tags", web::get().to(list));
    cfg.route("/projects/{id}/repository/tags", web::post().to(create));
    cfg.route("/projects/{id}/repository/tags/{tag:.+}/release", web::post().to(create_release));
    cfg.route("/projects/{id}/repository/tags/{tag:.+}/release", web::put().to(update_release));
    cfg.route("/projects/{id}/repository/tags/{tag:.+}", web::get().to(get));
    cfg.route("/projects/{id}/repository/tags/{tag:.+}", web::delete().to(delete));
}

/// Describes the routes.
pub fn describe(to: &mut Description) {
    to.section("Tags and releases");
    let all = "/projects/:id/repository/tags";
    to.add(doc::get(all, "Tags").list::<TagJson>());
    let fields = [
        doc::text("tag_name", limit::REF_NAME).needed(),
        doc::text("ref", limit::REF_NAME).needed(),
        doc::text("message", limit::LONG),
        doc::text("release_description", limit::LONG),
    ];
    to.add(doc::post(all, "Makes a tag").takes(&fields).made::<TagJson>());
    let one = format!("{all}/:tag_name");
    to.add(doc::get(&one, "A tag").ok::<TagJson>());
    to.add(doc::delete(&one, "Removes a tag").ok::<RemovedTag>());
    let (release, text) =
        (format!("{one}/release"), [doc::text("description", limit::LONG).needed()]);
    to.add(doc::post(&release, "Makes a release").takes(&text).made::<ReleaseJson>());
    to.add(doc::put(&release, "Changes a release").takes(&text).ok::<ReleaseJson>());
}

async fn list(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), page) = (id.into_inner(), api.page_of_short_list());
    let all = api.run(move |app, actor, _| Ok(tag::list(app, actor, &named, page)?)).await?;
    respond::paged(&api, page, all.map(TagJson::listed))
}

async fn get(api: Api, path: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), name) = path.into_inner();
    let found = api.run(move |app, actor, _| Ok(tag::get(app, actor, &named, &name)?)).await?;
    respond::ok(TagJson::single(found))
}

async fn create(api: Api, id: web::Path<ProjectPath>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), dialect) = (id.into_inner(), api.dialect());
    let made = api
        .run(move |app, actor, params| {
            repository::authorize(app, actor, &named)?;
            let mut declared = params.declared();
            let new = NewTag {
                name: declared.required_text("tag_name"),
                from: declared.required_text("ref"),
                message: declared.text("message"),
                release: declared.text("release_description"),
            };
            declared.finish()?;
            tag::create(app, actor, &named, &new).map_err(|error| dialect.tag_refused(error))
        })
        .await?;
    respond::created(TagJson::listed(made))
}

/// The tag that is gone.
#[derive(Serialize, ToSchema)]
struct RemovedTag {
    tag_name: String,
}

async fn delete(api: Api, path: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), name) = path.into_inner();
    let asked = name.clone();
    api.run(move |app, actor, _| {
        repository::authorize(app, actor, &named)?;
        Ok(tag::delete(app, actor, &named, &asked)?)
    })
    .await?;
    respond::ok(RemovedTag { tag_name: name })
}

async fn create_release(
    api: Api,
    path: web::Path<(ProjectPath, String)>,
) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), tag) = path.into_inner();
    let made = api
        .run(move |app, actor, params| {
            repository::authorize(app, actor, &named)?;
            let description = read_description(params)?;
            Ok(release::create(app, actor, &named, &tag, &description)?)
        })
        .await?;
    respond::created(ReleaseJson::from(made))
}

async fn update_release(
    api: Api,
    path: web::Path<(ProjectPath, String)>,
) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), tag) = path.into_inner();
    let changed = api
        .run(move |app, actor, params| {
            repository::authorize(app, actor, &named)?;
            let description = read_description(params)?;
            Ok(release::update(app, actor, &named, &tag, &description)?)
        })
        .await?;
    respond::ok(ReleaseJson::from(changed))
}

fn read_description(params: &Params) -> ApiResult<String> {
    let mut declared = params.declared();
    let description = declared.required_text("description");
    declared.finish()?;
    Ok(description)
}
