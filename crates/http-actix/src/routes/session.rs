//! `POST /session`: signing in with a password.

use actix_web::{HttpResponse, web};
use hexforge_application::session::{self, Attempt};
use hexforge_domain::text::Secret;
use hexforge_domain::text::limit;

use super::table::Table;
use crate::api::Api;
use crate::entities::user::{UserJson, UserLogin};
use crate::error::ApiResult;
use crate::openapi::{self as doc, Description};
use crate::params::Params;
use crate::respond;

/// Adds the route.
pub fn configure(cfg: &mut Table) {
    cfg.route("/session", web::post().to(create));
}

/// Describes the route.
pub fn describe(to: &mut Description) {
    to.section("Signing in");
    let fields = [
        doc::text("login", limit::SHORT),
        doc::text("email", limit::SHORT),
        doc::text("password", limit::PASSWORD).needed(),
    ];
    let sign_in = doc::post("/session", "Signs in with a password").open();
    to.add(sign_in.takes(&fields).made::<UserLogin>());
}

async fn create(api: Api) -> ApiResult<HttpResponse> {
    let address = api.peer();
    let login = api
        .run_sign_in(move |app, params| {
            let (login, password) = read(params)?;
            Ok(session::create(app, &Attempt { login, password, address })?)
        })
        .await?;
    respond::created(UserJson::login(&login, api.links()))
}

/// An e-mail address counts more than a login; either may hold either.
fn read(params: &Params) -> ApiResult<(String, Secret)> {
    let mut declared = params.declared();
    let login = declared.text("login");
    let email = declared.text("email");
    let password = declared.required_text("password");
    declared.at_least_one(&["login", "email"]);
    declared.finish()?;
    Ok((email.or(login).unwrap_or_default(), Secret::new(password)))
}
