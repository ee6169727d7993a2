//! Signing in and out.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderValue, RETRY_AFTER};
use askama::Template;
use hexforge_application::app::SignUp;
use hexforge_application::browser_session;
use hexforge_application::error::Error;
use hexforge_application::session::Attempt;
use hexforge_domain::text::Secret;

use crate::address;
use crate::cookies::Notice;
use crate::error::{PageError, PageResult};
use crate::forms;
use crate::frame::Frame;
use crate::render;
use crate::visit::{Viewer, Visit};

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignIn {
    frame: Frame,
    token: String,
    alert: Option<String>,
    login: String,
    remember: bool,
    return_to: String,
    may_register: bool,
}

/// The form.
pub(super) async fn form(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, ()) = visit.run(|_, _| Ok(())).await?;
    let return_to = address::return_to(visit.query("return_to")).to_owned();
    if viewer.signed_in().is_some() {
        return Ok(render::see_other("/").finish());
    }
    Ok(show(&visit, StatusCode::OK, Failed { return_to, ..Failed::default() }))
}

/// What the form shows after a failed attempt. The password is not kept.
#[derive(Default)]
struct Failed {
    alert: Option<String>,
    login: String,
    remember: bool,
    return_to: String,
}

/// Shows the form with a token that is bound to a short-lived cookie.
fn show(visit: &Visit, status: StatusCode, failed: Failed) -> HttpResponse {
    let viewer = Viewer::default();
    let cookie = forms::stranger_token(visit);
    let Failed { alert, login, remember, return_to } = failed;
    let page = SignIn {
        frame: Frame::new(visit, &viewer, "Sign in"),
        token: forms::masked_token(visit.app(), &cookie),
        alert,
        login,
        remember,
        return_to,
        may_register: may_register(visit),
    };
    let mut response = render::unstored(render::page_with(status, visit, &viewer, &page));
    // A cookie of fixed characters is always a valid header.
    let _ = response.add_cookie(&visit.jar().new_form(&cookie));
    response
}

/// Whether the page links to the registration. The settings are those that this process has read last.
fn may_register(visit: &Visit) -> bool {
    let app = visit.app();
    app.settings.signup != SignUp::Off && app.application_settings.newest().signup_enabled
}

/// Checks the password, and makes a new session.
pub(super) async fn sign_in(visit: Visit) -> PageResult<HttpResponse> {
    let fields = visit.form();
    let login = fields.text("login").to_owned();
    let remember = fields.is_set("remember_me");
    let return_to = address::return_to(Some(fields.text("return_to"))).to_owned();
    let attempt = Attempt {
        login: login.clone(),
        password: Secret::new(fields.raw("password").to_owned()),
        address: visit.address(),
    };
    let (browser, previous) = (visit.browser(), visit.session_token().cloned());
    let made = visit
        .run_sign_in(move |app| {
            browser_session::create(app, &attempt, remember, &browser, previous.as_ref())
        })
        .await?;
    let failed = |alert: String| Failed {
        alert: Some(alert),
        login: login.clone(),
        remember,
        return_to: return_to.clone(),
    };
    match made {
        Ok(new) => {
            let jar = visit.jar();
            let cookie = jar.new_session(&new.token, remember);
            Ok(render::see_other(&return_to).cookie(cookie).cookie(jar.no_form()).finish())
        }
        Err(Error::Unauthenticated) => {
            let alert = failed("Invalid login or password.".to_owned());
            Ok(show(&visit, StatusCode::UNPROCESSABLE_ENTITY, alert))
        }
        Err(Error::SecondFactor) => {
            let why = "This account has a second factor, so it can sign in with a token only.";
            Ok(show(&visit, StatusCode::UNPROCESSABLE_ENTITY, failed(why.to_owned())))
        }
        Err(Error::Throttled(seconds)) => {
            let alert = format!("Too many attempts. Try again in {seconds} seconds.");
            let mut response = show(&visit, StatusCode::TOO_MANY_REQUESTS, failed(alert));
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
            Ok(response)
        }
        Err(error) => Err(PageError::of(error, Viewer::default(), true)),
    }
}

/// Ends the session.
pub(super) async fn sign_out(visit: Visit) -> PageResult<HttpResponse> {
    if let Some(token) = visit.session_token().cloned() {
        visit.run(move |app, _| browser_session::end(app, &token)).await?;
    }
    let mut response = render::see_other_with(&visit, "/users/sign_in", Notice::SignedOut);
    let _ = response.add_cookie(&visit.jar().no_session());
    Ok(response)
}
