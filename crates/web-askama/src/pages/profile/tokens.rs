//! The own access tokens. The secret of a new token is shown once: a cookie, which only this page gets, carries it from
//! the form to the page.

use actix_web::HttpResponse;
use actix_web::cookie::time::Duration as CookieTime;
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, HeaderValue};
use askama::Template;
use chrono::NaiveDate;
use hexforge_application::token;
use hexforge_domain::id::TokenId;

use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::frame::Frame;
use crate::moment::Moment;
use crate::render;
use crate::table::Pages;
use crate::visit::Visit;

const TOKENS: &str = "/profile/personal_access_tokens";

/// The cookie with the secret of a new token, and its lifetime.
const COOKIE: &str = "hexforge_new_token";
const COOKIE_LIFETIME: CookieTime = CookieTime::minutes(1);

pub(super) fn declare(pages: &mut Pages) {
    pages.get(TOKENS, list);
    pages.post(TOKENS, create);
    pages.post("/profile/personal_access_tokens/{id}/revoke", revoke);
}

struct Row {
    id: TokenId,
    name: String,
    created: Moment,
    expires: Option<Moment>,
}

#[derive(Template)]
#[template(path = "profile/tokens.html")]
struct TokensPage {
    frame: Frame,
    faults: Faults,
    /// The secret of a new token.
    secret: Option<String>,
    rows: Vec<Row>,
    typed_name: String,
    expires_at: String,
}

async fn list(visit: Visit) -> PageResult<HttpResponse> {
    show_list(&visit, StatusCode::OK, Faults::default()).await
}

async fn show_list(visit: &Visit, status: StatusCode, faults: Faults) -> PageResult<HttpResponse> {
    let (viewer, tokens) =
        visit.run_signed_in(|app, signed_in| token::list_active(app, signed_in.actor)).await?;
    let cookie = visit.request().cookie(COOKIE);
    let secret = cookie.as_ref().map(|cookie| cookie.value().to_owned());
    let frame = Frame::new(visit, &viewer, "Access tokens");
    let row = |token: hexforge_domain::token::Token| Row {
        id: token.id,
        name: token.name,
        created: frame.moment(token.created_at),
        expires: token.life.expires_at.map(|at| frame.moment(at)),
    };
    let rows = tokens.into_iter().map(row).collect();
    let form = visit.form();
    let page = TokensPage {
        faults,
        rows,
        secret,
        typed_name: form.raw("name").to_owned(),
        expires_at: form.raw("expires_at").to_owned(),
        frame,
    };
    let mut response = render::page_with(status, visit, &viewer, &page);
    if cookie.is_some() {
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let _ = response.add_cookie(&visit.jar().at_path(COOKIE, "", TOKENS, CookieTime::ZERO));
    }
    Ok(response)
}

async fn create(visit: Visit) -> PageResult<HttpResponse> {
    let form = visit.form();
    let (name, day) = (form.text("name").to_owned(), form.text("expires_at"));
    let expires_on = match day {
        "" => None,
        day => match NaiveDate::parse_from_str(day, "%Y-%m-%d") {
            Ok(day) => Some(day),
            Err(_) => {
                let faults = Faults::of_field("expires_at", "is not a date: write 2030-12-31");
                return show_list(&visit, StatusCode::UNPROCESSABLE_ENTITY, faults).await;
            }
        },
    };
    let (_, created) = visit
        .submit(move |app, signed_in| token::create_own(app, signed_in.actor, &name, expires_on))
        .await?;
    match created {
        Ok(secret) => {
            let mut response = render::see_other_with(&visit, TOKENS, Notice::Created);
            response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            let cookie = visit.jar().at_path(COOKIE, secret.reveal(), TOKENS, COOKIE_LIFETIME);
            // A token has only letters, digits and `-`, so the cookie is a valid header.
            let _ = response.add_cookie(&cookie);
            Ok(response)
        }
        Err(faults) => show_list(&visit, StatusCode::UNPROCESSABLE_ENTITY, faults).await,
    }
}

async fn revoke(visit: Visit) -> PageResult<HttpResponse> {
    let id = TokenId(visit.id("id"));
    visit.run_signed_in(move |app, signed_in| token::revoke_own(app, signed_in.actor, id)).await?;
    Ok(render::see_other_with(&visit, TOKENS, Notice::Removed))
}
