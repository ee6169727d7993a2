//! The own password.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::user::password::{self, PasswordChange};
use hexforge_domain::text::Secret;

use crate::cookies::Notice;
use crate::error::{PageError, PageResult};
use crate::faults::Faults;
use crate::frame::Frame;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

const PASSWORD: &str = "/profile/password/edit";

pub(super) fn declare(pages: &mut Pages) {
    pages.get(PASSWORD, edit_password);
    pages.post(PASSWORD, change_password);
}

#[derive(Template)]
#[template(path = "profile/password.html")]
struct PasswordPage {
    frame: Frame,
    faults: Faults,
}

async fn edit_password(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, ()) = visit.run_signed_in(|_, _| Ok(())).await?;
    Ok(show_password(&visit, &viewer, StatusCode::OK, Faults::default()))
}

/// Shows the form. No password is shown again.
fn show_password(
    visit: &Visit,
    viewer: &Viewer,
    status: StatusCode,
    faults: Faults,
) -> HttpResponse {
    let page = PasswordPage { frame: Frame::new(visit, viewer, "Password"), faults };
    render::page_with(status, visit, viewer, &page)
}

async fn change_password(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, signed_in) = visit.run_signed_in(|_, signed_in| Ok(signed_in.clone())).await?;
    let form = visit.form();
    let refused =
        |faults| Ok(show_password(&visit, &viewer, StatusCode::UNPROCESSABLE_ENTITY, faults));
    if form.raw("password") != form.raw("password_confirmation") {
        return refused(Faults::of_field("password_confirmation", "doesn't match the password"));
    }
    let change = PasswordChange {
        current: Secret::new(form.raw("current_password").to_owned()),
        new: Secret::new(form.raw("password").to_owned()),
        address: visit.address(),
    };
    let changed =
        visit.run_sign_in(move |app| password::change_own(app, &signed_in, &change)).await?;
    match changed.map_err(Faults::of) {
        Ok(()) => Ok(render::see_other_with(&visit, PASSWORD, Notice::Saved)),
        Err(Ok(faults)) => refused(faults),
        Err(Err(error)) => Err(PageError::of(error, viewer, true)),
    }
}
