//! Tokens of the caller, including those of sign-ins.

use actix_web::{HttpResponse, web};
use hexforge_application::token;
use hexforge_domain::id::TokenId;

use super::ids::PathId;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::token::TokenJson;
use crate::error::ApiResult;
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    let list = call::get("/user/tokens", "Lists the tokens and sessions of the caller", list);
    calls.add(list.list::<TokenJson>());
    let revoke =
        call::delete("/user/tokens/{id}", "Revokes a token or session of the caller", revoke);
    calls.add(revoke.ok::<TokenJson>());
}

async fn list(api: Api) -> ApiResult<HttpResponse> {
    let page = api.page();
    let (tokens, now) = api
        .run(move |app, actor, ()| {
            token::list_own(app, actor, page).map(|tokens| (tokens, app.clock.now()))
        })
        .await?;
    respond::paged(&api, page, tokens.map(|token| TokenJson::new(token, now)))
}

async fn revoke(api: Api, id: web::Path<PathId>) -> ApiResult<HttpResponse> {
    let id = TokenId::from(id.into_inner());
    let (token, now) = api
        .run(move |app, actor, ()| {
            token::revoke_own(app, actor, id).map(|token| (token, app.clock.now()))
        })
        .await?;
    respond::ok(TokenJson::new(token, now))
}
