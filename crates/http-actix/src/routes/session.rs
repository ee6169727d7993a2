//! `POST /session`: signing in with a password.

use actix_web::HttpResponse;
use hexforge_application::session::{self, Attempt};
use hexforge_domain::text::Secret;
use hexforge_domain::text::limit;

use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::user::UserLoginJson;
use crate::error::ApiResult;
use crate::params::{declared, parameters};
use crate::respond;

/// Declares the call.
pub fn declare(calls: &mut Calls) {
    calls.section("Signing in");
    let sign_in = call::post("/session", "Signs in with a password", create).without_sign_in();
    calls.add(sign_in.created::<UserLoginJson<'_>>());
}

parameters! {
    struct SignIn {
        login: Option<String> = declared::text("login", limit::SHORT),
        email: Option<String> = declared::text("email", limit::SHORT),
        password: String = declared::text("password", limit::PASSWORD).needed(),
    },
    |from| from.at_least_one(&["login", "email"])
}

async fn create(api: Api<SignIn>) -> ApiResult<HttpResponse> {
    let address = api.peer();
    let login = api
        .run_sign_in(move |app, SignIn { login, email, password }| {
            // `email` takes precedence over `login`. Each of them may be a user name or an e-mail address.
            let login = email.or(login).unwrap_or_default();
            session::create(app, &Attempt { login, password: Secret::new(password), address })
        })
        .await?;
    respond::created(UserLoginJson::new(&login, api.links()))
}
