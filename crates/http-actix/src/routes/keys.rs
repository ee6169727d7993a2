//! SSH keys: of the caller below `/user`, of any user below `/users`, any key below `/keys`.

use actix_web::{HttpResponse, web};
use hexforge_application::user::key::{self, KeyFields};
use hexforge_domain::id::{KeyId, UserId};
use hexforge_domain::text::limit;

use super::ids::{OwnerPath, PathId};
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::key::{AnyKeyJson, KeyJson};
use crate::error::ApiResult;
use crate::params::{parameters, picked};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    let (own, of_user) = ("/user/keys", "/users/{uid:[0-9]+}/keys");
    calls.add(call::get(own, "Lists the SSH keys of the caller", list).list::<KeyJson>());
    calls.add(call::get(of_user, "Lists the SSH keys of a user", list).list::<KeyJson>());
    calls.add(
        call::get("/user/keys/{id}", "Shows an SSH key of the caller", get_own).ok::<KeyJson>(),
    );
    calls.add(call::post(own, "Adds an SSH key for the caller", add).created::<KeyJson>());
    let add = call::post("/users/{id:[0-9]+}/keys", "Adds an SSH key for a user", add);
    calls.add(add.created::<KeyJson>());
    let remove = call::delete("/user/keys/{id}", "Removes an SSH key of the caller", remove_own);
    calls.add(remove.ok::<KeyJson>().or_null());
    let remove = format!("{of_user}/{{id}}");
    calls.add(call::delete(remove, "Removes an SSH key of a user", remove_of).ok::<KeyJson>());
    let any = call::get("/keys/{id}", "Shows an SSH key or deploy key with its user", get_any);
    calls.add(any.ok::<AnyKeyJson<'_>>());
}

parameters!(KeyFields {
    title: picked::text("title", limit::SHORT).expected(),
    key: picked::text("key", limit::PUBLIC_KEY).expected(),
});

async fn list(api: Api, OwnerPath(owner): OwnerPath) -> ApiResult<HttpResponse> {
    let page = api.page_of_short_list();
    let keys = api.run(move |app, actor, ()| key::list(app, actor, owner, page)).await?;
    respond::paged(&api, page, keys.map(KeyJson::from))
}

async fn get_own(api: Api, id: web::Path<PathId>) -> ApiResult<HttpResponse> {
    let id = KeyId::from(id.into_inner());
    let key = api.run(move |app, actor, ()| key::get(app, actor, id)).await?;
    respond::ok(KeyJson::from(key))
}

async fn add(api: Api<KeyFields>, OwnerPath(owner): OwnerPath) -> ApiResult<HttpResponse> {
    let dialect = api.dialect();
    let key = api
        .run_unread(move |app, actor, unread| {
            owner.authorize(actor)?;
            let fields = unread.read()?;
            key::add(app, actor, owner, &fields).map_err(|error| dialect.used_key(error))
        })
        .await?;
    respond::created(KeyJson::from(key))
}

/// 200 with the removed entity, or with null if it did not exist.
async fn remove_own(api: Api, id: web::Path<PathId>) -> ApiResult<HttpResponse> {
    let id = KeyId::from(id.into_inner());
    let removed = api.run(move |app, actor, ()| key::remove_own(app, actor, id)).await?;
    respond::ok(removed.map(KeyJson::from))
}

async fn remove_of(api: Api, ids: web::Path<(PathId, PathId)>) -> ApiResult<HttpResponse> {
    let (user, id) = ids.into_inner();
    let (user, id) = (UserId::from(user), KeyId::from(id));
    let removed = api.run(move |app, actor, ()| key::remove_of(app, actor, user, id)).await?;
    respond::ok(KeyJson::from(removed))
}

async fn get_any(api: Api, id: web::Path<PathId>) -> ApiResult<HttpResponse> {
    let id = KeyId::from(id.into_inner());
    let found = api.run(move |app, actor, ()| key::get_any(app, actor, id)).await?;
    respond::ok(AnyKeyJson::new(&found, api.links()))
}
