//! Registration. Unless it is open, its address is not found.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::error::{Entity, Error};
use hexforge_application::user::fields::UserFields;
use hexforge_application::user::register;
use hexforge_domain::text::Secret;

use crate::error::{PageError, PageResult};
use crate::faults::Faults;
use crate::forms::{self, Guard};
use crate::frame::Frame;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

const SIGN_UP: &str = "/users/sign_up";

pub(super) fn declare(pages: &mut Pages) {
    pages.get(SIGN_UP, form);
    pages.post_guarded(Guard::Stranger, SIGN_UP, create);
}

#[derive(Template)]
#[template(path = "sign_up.html")]
struct SignUpPage {
    frame: Frame,
    token: String,
    faults: Faults,
    typed_name: String,
    username: String,
    email: String,
    is_waiting: bool,
}

async fn form(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, ()) = visit
        .run(|app, _| match register::is_open(app)? {
            true => Ok(()),
            false => Err(Error::NotFound(Entity::Record)),
        })
        .await?;
    if viewer.signed_in().is_some() {
        return Ok(render::see_other("/").finish());
    }
    Ok(show(&visit, StatusCode::OK, Faults::default(), false))
}

/// Shows the form with a token that is bound to a short-lived cookie. The password is not shown again.
fn show(visit: &Visit, status: StatusCode, faults: Faults, is_waiting: bool) -> HttpResponse {
    let viewer = Viewer::default();
    let (cookie, form) = (forms::stranger_token(visit), visit.form());
    let page = SignUpPage {
        frame: Frame::new(visit, &viewer, "Register"),
        token: forms::masked_token(visit.app(), &cookie),
        faults,
        typed_name: form.raw("name").to_owned(),
        username: form.raw("username").to_owned(),
        email: form.raw("email").to_owned(),
        is_waiting,
    };
    let mut response = render::unstored(render::page_with(status, visit, &viewer, &page));
    // A cookie of fixed characters is always a valid header.
    let _ = response.add_cookie(&visit.jar().new_form(&cookie));
    response
}

/// Creates the account and signs in. An account that waits for approval is told so.
async fn create(visit: Visit) -> PageResult<HttpResponse> {
    let form = visit.form();
    let text = |name: &str| Some(form.text(name).to_owned());
    let fields = UserFields {
        name: text("name"),
        username: text("username"),
        email: text("email"),
        password: Some(Secret::new(form.raw("password").to_owned())),
        ..UserFields::default()
    };
    let (address, browser) = (visit.address(), visit.browser());
    let made =
        visit.run_sign_in(move |app| register::register(app, &fields, address, &browser)).await?;
    match made.map_err(Faults::of) {
        Ok(Some(new)) => {
            let jar = visit.jar();
            let cookie = jar.new_session(&new.token, false);
            Ok(render::see_other("/").cookie(cookie).cookie(jar.no_form()).finish())
        }
        Ok(None) => Ok(show(&visit, StatusCode::OK, Faults::default(), true)),
        Err(Ok(faults)) => Ok(show(&visit, StatusCode::UNPROCESSABLE_ENTITY, faults, false)),
        Err(Err(error)) => Err(PageError::of(error, Viewer::default(), true)),
    }
}
