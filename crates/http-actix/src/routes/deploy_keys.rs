//! Deploy keys. Permission to administer the project is checked before the parameters. The old name `keys` of the
//! paths means the same.

use actix_web::HttpResponse;
use hexforge_application::deploy_key::{self, DeployKeyFields};
use hexforge_application::project;
use hexforge_domain::id::KeyId;
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::key::KeyJson;
use crate::error::ApiResult;
use crate::params::{declared, parameters};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Deploy keys");
    let all = call::get("/deploy_keys", "Lists all deploy keys of the service", list_all);
    calls.add(all.list::<KeyJson>());
    for of_project in ["/projects/{id}/deploy_keys", "/projects/{id}/keys"] {
        let list = call::get(of_project, "Lists the deploy keys of a project", list);
        calls.add(list.list::<KeyJson>());
        let add = call::post(of_project, "Adds a deploy key to a project", add);
        calls.add(add.created::<KeyJson>());
        let one = format!("{of_project}/{{key_id}}");
        calls.add(call::get(one.as_str(), "Shows a deploy key of a project", get).ok::<KeyJson>());
        let remove = call::delete(one.as_str(), "Removes a deploy key from a project", disable);
        calls.add(remove.ok::<KeyJson>());
        let enable = call::post(
            format!("{one}/enable"),
            "Adds a deploy key of another project to a project",
            enable,
        );
        calls.add(enable.created::<KeyJson>());
        let disable =
            call::delete(format!("{one}/disable"), "Removes a deploy key from a project", disable);
        calls.add(disable.ok::<KeyJson>());
    }
}

parameters! {
    struct InPath {
        id: KeyId = declared::in_path("key_id").map(KeyId),
    }
}

parameters!(DeployKeyFields {
    title: declared::text("title", limit::SHORT),
    key: declared::text("key", limit::PUBLIC_KEY),
});

async fn list_all(api: Api) -> ApiResult<HttpResponse> {
    let page = api.page_of_short_list();
    let keys = api.run(move |app, actor, ()| deploy_key::list_all(app, actor, page)).await?;
    respond::paged(&api, page, keys.map(KeyJson::from))
}

async fn list(api: Api, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let page = api.page_of_short_list();
    let keys = api.run(move |app, actor, ()| deploy_key::list(app, actor, &named, page)).await?;
    respond::paged(&api, page, keys.map(KeyJson::from))
}

async fn get(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let found = api
        .run_unread(move |app, actor, unread| {
            project::authorize_administration(app, actor, &named)?;
            Ok(deploy_key::get(app, actor, &named, unread.read()?.id)?)
        })
        .await?;
    respond::ok(KeyJson::from(found))
}

async fn add(
    api: Api<DeployKeyFields>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let added = api
        .run_unread(move |app, actor, unread| {
            project::authorize_administration(app, actor, &named)?;
            Ok(deploy_key::add(app, actor, &named, &unread.read()?)?)
        })
        .await?;
    respond::created(KeyJson::from(added))
}

async fn enable(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let enabled = api
        .run_unread(move |app, actor, unread| {
            project::authorize_administration(app, actor, &named)?;
            Ok(deploy_key::enable(app, actor, &named, unread.read()?.id)?)
        })
        .await?;
    respond::created(KeyJson::from(enabled))
}

async fn disable(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let disabled = api
        .run_unread(move |app, actor, unread| {
            project::authorize_administration(app, actor, &named)?;
            Ok(deploy_key::disable(app, actor, &named, unread.read()?.id)?)
        })
        .await?;
    respond::ok(KeyJson::from(disabled))
}
