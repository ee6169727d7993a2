//! Tags and releases. Permission to read the code is checked before the parameters.

use actix_web::{HttpResponse, web};
use hexforge_application::repository;
use hexforge_application::tag::{self, NewTag, release};
use hexforge_domain::text::limit;
use serde::Serialize;
use utoipa::ToSchema;

use super::ids::ProjectPath;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::tag::{ReleaseJson, TagJson};
use crate::error::ApiResult;
use crate::params::{declared, parameters};
use crate::respond;

/// Declares the calls. The name of a tag may contain slashes, so it takes the rest of the path.
pub fn declare(calls: &mut Calls) {
    calls.section("Tags and releases");
    let all = "/projects/{id}/repository/tags";
    calls.add(call::get(all, "Lists the tags of a project", list).list::<TagJson>());
    calls.add(call::post(all, "Creates a tag", create).created::<TagJson>());
    let one = "/projects/{id}/repository/tags/{tag_name:.+}";
    calls.add(call::get(one, "Shows a tag", get).ok::<TagJson>());
    calls.add(call::delete(one, "Removes a tag", delete).ok::<RemovedTag>());
    let release = "/projects/{id}/repository/tags/{tag_name:.+}/release";
    calls.add(call::post(release, "Creates a release", create_release).created::<ReleaseJson>());
    calls.add(call::put(release, "Updates a release", update_release).ok::<ReleaseJson>());
}

parameters!(NewTag {
    name: declared::text("tag_name", limit::REF_NAME).needed(),
    from: declared::text("ref", limit::REF_NAME).needed(),
    message: declared::text("message", limit::LONG),
    release: declared::text("release_description", limit::LONG),
});

parameters! {
    struct Described {
        description: String = declared::text("description", limit::LONG).needed(),
    }
}

async fn list(api: Api, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let page = api.page_of_short_list();
    let all = api.run(move |app, actor, ()| tag::list(app, actor, &named, page)).await?;
    respond::paged(&api, page, all.map(TagJson::listed))
}

async fn get(api: Api, path: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), name) = path.into_inner();
    let found = api.run(move |app, actor, ()| tag::get(app, actor, &named, &name)).await?;
    respond::ok(TagJson::single(found))
}

async fn create(api: Api<NewTag>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let dialect = api.dialect();
    let made = api
        .run_unread(move |app, actor, unread| {
            repository::authorize(app, actor, &named)?;
            let new = unread.read()?;
            tag::create(app, actor, &named, &new).map_err(|error| dialect.tag_refused(error))
        })
        .await?;
    respond::created(TagJson::listed(made))
}

/// The tag that was removed.
#[derive(Serialize, ToSchema)]
struct RemovedTag {
    tag_name: String,
}

async fn delete(api: Api, path: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), name) = path.into_inner();
    let asked = name.clone();
    api.run(move |app, actor, ()| {
        repository::authorize(app, actor, &named)?;
        tag::delete(app, actor, &named, &asked)
    })
    .await?;
    respond::ok(RemovedTag { tag_name: name })
}

async fn create_release(
    api: Api<Described>,
    path: web::Path<(ProjectPath, String)>,
) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), tag) = path.into_inner();
    let made = api
        .run_unread(move |app, actor, unread| {
            repository::authorize(app, actor, &named)?;
            let Described { description } = unread.read()?;
            Ok(release::create(app, actor, &named, &tag, &description)?)
        })
        .await?;
    respond::created(ReleaseJson::from(made))
}

async fn update_release(
    api: Api<Described>,
    path: web::Path<(ProjectPath, String)>,
) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), tag) = path.into_inner();
    let changed = api
        .run_unread(move |app, actor, unread| {
            repository::authorize(app, actor, &named)?;
            let Described { description } = unread.read()?;
            Ok(release::update(app, actor, &named, &tag, &description)?)
        })
        .await?;
    respond::ok(ReleaseJson::from(changed))
}
