//! Tokens of the caller, those of its sign-ins included.

use actix_web::{HttpResponse, web};
use hexforge_application::token;
use hexforge_domain::id::TokenId;

use super::ids::PathId;
use super::table::Table;
use crate::api::Api;
use crate::entities::token::TokenJson;
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description};
use crate::respond;

/// Adds the routes.
pub fn configure(cfg: &mut Table) {
    cfg.route("/user/tokens", web::get().to(list));
    cfg.route("/user/tokens/{id}", web::delete().to(revoke));
}

/// Describes the routes.
pub fn describe(to: &mut Description) {
    to.add(doc::get("/user/tokens", "Tokens and sessions of the caller").list::<TokenJson>());
    to.add(doc::delete("/user/tokens/:id", "Revokes one of the caller").ok::<TokenJson>());
}

async fn list(api: Api) -> ApiResult<HttpResponse> {
    let page = api.page();
    let (tokens, now) = api
        .run(move |app, actor, _| Ok((token::list_own(app, actor, page)?, app.clock.now())))
        .await?;
    respond::paged(&api, page, tokens.map(|token| TokenJson::new(token, now)))
}

async fn revoke(api: Api, id: web::Path<PathId>) -> ApiResult<HttpResponse> {
    let id = TokenId::from(id.into_inner());
    let (token, now) = api
        .run(move |app, actor, _| Ok((token::revoke_own(app, actor, id)?, app.clock.now())))
        .await?;
    respond::ok(TokenJson::new(token, now))
}
