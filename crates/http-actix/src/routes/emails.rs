//! Secondary e-mail addresses: of the caller below `/user`, of any user below `/users`.

use actix_web::{HttpResponse, web};
use hexforge_application::user::email;
use hexforge_domain::id::{EmailId, UserId};
use hexforge_domain::text::limit;

use super::ids::{OwnerPath, PathId};
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::email::EmailJson;
use crate::error::ApiResult;
use crate::params::{parameters, picked};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    let (own, of_user) = ("/user/emails", "/users/{uid:[0-9]+}/emails");
    calls.add(call::get(own, "Lists the e-mail addresses of the caller", list).list::<EmailJson>());
    calls.add(call::get(of_user, "Lists the e-mail addresses of a user", list).list::<EmailJson>());
    let get = call::get("/user/emails/{id}", "Shows an e-mail address of the caller", get_own);
    calls.add(get.ok::<EmailJson>());
    calls.add(call::post(own, "Adds an e-mail address for the caller", add).created::<EmailJson>());
    let add = call::post("/users/{id:[0-9]+}/emails", "Adds an e-mail address for a user", add);
    calls.add(add.created::<EmailJson>());
    let remove =
        call::delete("/user/emails/{id}", "Removes an e-mail address of the caller", remove_own);
    calls.add(remove.ok::<EmailJson>().or_null());
    let remove = format!("{of_user}/{{id}}");
    calls.add(
        call::delete(remove, "Removes an e-mail address of a user", remove_of).ok::<EmailJson>(),
    );
}

parameters! {
    struct NewEmail {
        address: Option<String> = picked::text("email", limit::SHORT).expected(),
    }
}

async fn list(api: Api, OwnerPath(owner): OwnerPath) -> ApiResult<HttpResponse> {
    let page = api.page_of_short_list();
    let emails = api.run(move |app, actor, ()| email::list(app, actor, owner, page)).await?;
    respond::paged(&api, page, emails.map(EmailJson::from))
}

async fn get_own(api: Api, id: web::Path<PathId>) -> ApiResult<HttpResponse> {
    let id = EmailId::from(id.into_inner());
    let email = api.run(move |app, actor, ()| email::get(app, actor, id)).await?;
    respond::ok(EmailJson::from(email))
}

async fn add(api: Api<NewEmail>, OwnerPath(owner): OwnerPath) -> ApiResult<HttpResponse> {
    let email = api
        .run_unread(move |app, actor, unread| {
            owner.authorize(actor)?;
            let NewEmail { address } = unread.read()?;
            Ok(email::add(app, actor, owner, address.as_deref())?)
        })
        .await?;
    respond::created(EmailJson::from(email))
}

/// 200 with the removed entity, or with null if it did not exist.
async fn remove_own(api: Api, id: web::Path<PathId>) -> ApiResult<HttpResponse> {
    let id = EmailId::from(id.into_inner());
    let removed = api.run(move |app, actor, ()| email::remove_own(app, actor, id)).await?;
    respond::ok(removed.map(EmailJson::from))
}

async fn remove_of(api: Api, ids: web::Path<(PathId, PathId)>) -> ApiResult<HttpResponse> {
    let (user, id) = ids.into_inner();
    let (user, id) = (UserId::from(user), EmailId::from(id));
    let removed = api.run(move |app, actor, ()| email::remove_of(app, actor, user, id)).await?;
    respond::ok(EmailJson::from(removed))
}
