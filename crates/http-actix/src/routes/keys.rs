//! SSH keys: of the caller below `/user`, of anybody below `/users`.

use actix_web::{HttpResponse, web};
use hexforge_application::user::key::{self, KeyFields};
use hexforge_domain::id::{KeyId, UserId};
use hexforge_domain::text::limit;

use super::ids::{OwnerPath, PathId};
use super::table::Table;
use crate::api::Api;
use crate::entities::key::KeyJson;
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description};
use crate::params::Params;
use crate::respond;

/// Adds the routes.
pub fn configure(cfg: &mut Table) {
    cfg.route("/user/keys", web::get().to(list));
    cfg.route("/user/keys", web::post().to(add));
    cfg.route("/user/keys/{id}", web::get().to(get_own));
    cfg.route("/user/keys/{id}", web::delete().to(remove_own));
    cfg.route("/users/{user:[0-9]+}/keys", web::get().to(list));
    cfg.route("/users/{user:[0-9]+}/keys", web::post().to(add));
    cfg.route("/users/{user:[0-9]+}/keys/{id}", web::delete().to(remove_of));
}

/// Describes the routes.
pub fn describe(to: &mut Description) {
    let fields =
        [doc::text("title", limit::SHORT).needed(), doc::text("key", limit::PUBLIC_KEY).needed()];
    to.add(doc::get("/user/keys", "SSH keys of the caller").list::<KeyJson>());
    to.add(doc::get("/users/:uid/keys", "SSH keys of a user").list::<KeyJson>());
    to.add(doc::get("/user/keys/:id", "A key of the caller").ok::<KeyJson>());
    to.add(doc::post("/user/keys", "Adds one for the caller").takes(&fields).made::<KeyJson>());
    to.add(doc::post("/users/:id/keys", "Adds one for a user").takes(&fields).made::<KeyJson>());
    to.add(doc::delete("/user/keys/:id", "Removes one of the caller").ok::<KeyJson>().or_null());
    to.add(doc::delete("/users/:uid/keys/:id", "Removes one of a user").ok::<KeyJson>());
}

async fn list(api: Api, OwnerPath(owner): OwnerPath) -> ApiResult<HttpResponse> {
    let page = api.page_of_short_list();
    let keys = api.run(move |app, actor, _| Ok(key::list(app, actor, owner, page)?)).await?;
    respond::paged(&api, page, keys.map(KeyJson::from))
}

async fn get_own(api: Api, id: web::Path<PathId>) -> ApiResult<HttpResponse> {
    let id = KeyId::from(id.into_inner());
    let key = api.run(move |app, actor, _| Ok(key::get(app, actor, id)?)).await?;
    respond::ok(KeyJson::from(key))
}

async fn add(api: Api, OwnerPath(owner): OwnerPath) -> ApiResult<HttpResponse> {
    let dialect = api.dialect();
    let key = api
        .run(move |app, actor, params| {
            // Who may not do this is told so before anything about the parameters.
            owner.authorize(actor)?;
            let fields = read_fields(params)?;
            key::add(app, actor, owner, &fields).map_err(|error| dialect.used_key(error))
        })
        .await?;
    respond::created(KeyJson::from(key))
}

fn read_fields(params: &Params) -> ApiResult<KeyFields> {
    Ok(KeyFields { title: params.text("title")?, key: params.text("key")? })
}

/// 200 with the one that was removed, or with null where there was none.
async fn remove_own(api: Api, id: web::Path<PathId>) -> ApiResult<HttpResponse> {
    let id = KeyId::from(id.into_inner());
    let removed = api.run(move |app, actor, _| Ok(key::remove_own(app, actor, id)?)).await?;
    respond::ok(removed.map(KeyJson::from))
}

async fn remove_of(api: Api, ids: web::Path<(PathId, PathId)>) -> ApiResult<HttpResponse> {
    let (user, id) = ids.into_inner();
    let (user, id) = (UserId::from(user), KeyId::from(id));
    let removed = api.run(move |app, actor, _| Ok(key::remove_of(app, actor, user, id)?)).await?;
    respond::ok(KeyJson::from(removed))
}
