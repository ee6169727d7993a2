//! Secondary e-mail addresses: of the caller below `/user`, of anybody below `/users`.

use actix_web::{HttpResponse, web};
use hexforge_application::user::email;
use hexforge_domain::id::{EmailId, UserId};
use hexforge_domain::text::limit;

use super::ids::{OwnerPath, PathId};
use super::table::Table;
use crate::api::Api;
use crate::entities::email::EmailJson;
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description};
use crate::respond;

/// Adds the routes.
pub fn configure(cfg: &mut Table) {
    cfg.route("/user/emails", web::get().to(list));
    cfg.route("/user/emails", web::post().to(add));
    cfg.route("/user/emails/{id}", web::get().to(get_own));
    cfg.route("/user/emails/{id}", web::delete().to(remove_own));
    cfg.route("/users/{user:[0-9]+}/emails", web::get().to(list));
    cfg.route("/users/{user:[0-9]+}/emails", web::post().to(add));
    cfg.route("/users/{user:[0-9]+}/emails/{id}", web::delete().to(remove_of));
}

/// Describes the routes.
pub fn describe(to: &mut Description) {
    let fields = [doc::text("email", limit::SHORT).needed()];
    to.add(doc::get("/user/emails", "E-mail addresses of the caller").list::<EmailJson>());
    to.add(doc::get("/users/:uid/emails", "E-mail addresses of a user").list::<EmailJson>());
    to.add(doc::get("/user/emails/:id", "An address of the caller").ok::<EmailJson>());
    to.add(doc::post("/user/emails", "Adds one for the caller").takes(&fields).made::<EmailJson>());
    to.add(
        doc::post("/users/:id/emails", "Adds one for a user").takes(&fields).made::<EmailJson>(),
    );
    to.add(
        doc::delete("/user/emails/:id", "Removes one of the caller").ok::<EmailJson>().or_null(),
    );
    to.add(doc::delete("/users/:uid/emails/:id", "Removes one of a user").ok::<EmailJson>());
}

async fn list(api: Api, OwnerPath(owner): OwnerPath) -> ApiResult<HttpResponse> {
    let page = api.page_of_short_list();
    let emails = api.run(move |app, actor, _| Ok(email::list(app, actor, owner, page)?)).await?;
    respond::paged(&api, page, emails.map(EmailJson::from))
}

async fn get_own(api: Api, id: web::Path<PathId>) -> ApiResult<HttpResponse> {
    let id = EmailId::from(id.into_inner());
    let email = api.run(move |app, actor, _| Ok(email::get(app, actor, id)?)).await?;
    respond::ok(EmailJson::from(email))
}

async fn add(api: Api, OwnerPath(owner): OwnerPath) -> ApiResult<HttpResponse> {
    let email = api
        .run(move |app, actor, params| {
            // Who may not do this is told so before anything about the parameters.
            owner.authorize(actor)?;
            let address = params.text("email")?;
            Ok(email::add(app, actor, owner, address.as_deref())?)
        })
        .await?;
    respond::created(EmailJson::from(email))
}

/// 200 with the one that was removed, or with null where there was none.
async fn remove_own(api: Api, id: web::Path<PathId>) -> ApiResult<HttpResponse> {
    let id = EmailId::from(id.into_inner());
    let removed = api.run(move |app, actor, _| Ok(email::remove_own(app, actor, id)?)).await?;
    respond::ok(removed.map(EmailJson::from))
}

async fn remove_of(api: Api, ids: web::Path<(PathId, PathId)>) -> ApiResult<HttpResponse> {
    let (user, id) = ids.into_inner();
    let (user, id) = (UserId::from(user), EmailId::from(id));
    let removed = api.run(move |app, actor, _| Ok(email::remove_of(app, actor, user, id)?)).await?;
    respond::ok(EmailJson::from(removed))
}
