//! The own e-mail addresses.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::error::{Entity, Error};
use hexforge_application::user::{Owner, email};
use hexforge_domain::id::EmailId;
use hexforge_domain::paging::Paged;
use hexforge_domain::user::Email;

use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::frame::{Frame, Pager};
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

const EMAILS: &str = "/profile/emails";

pub(super) fn declare(pages: &mut Pages) {
    pages.get(EMAILS, list);
    pages.post(EMAILS, add);
    pages.post("/profile/emails/{id}/remove", remove);
}

#[derive(Template)]
#[template(path = "profile/emails.html")]
struct EmailsPage {
    frame: Frame,
    faults: Faults,
    primary: String,
    emails: Vec<Email>,
    pager: Pager,
    typed: String,
}

async fn list(visit: Visit) -> PageResult<HttpResponse> {
    show_list(&visit, StatusCode::OK, Faults::default()).await
}

async fn show_list(visit: &Visit, status: StatusCode, faults: Faults) -> PageResult<HttpResponse> {
    let page = visit.page();
    let (viewer, emails): (Viewer, Paged<Email>) = visit
        .run_signed_in(move |app, signed_in| email::list(app, signed_in.actor, Owner::Actor, page))
        .await?;
    let primary = viewer.signed_in().map(|signed_in| signed_in.user.email.as_str().to_owned());
    let page = EmailsPage {
        frame: Frame::new(visit, &viewer, "Emails"),
        faults,
        primary: primary.unwrap_or_default(),
        pager: Pager::new(visit, emails.total),
        emails: emails.items,
        typed: visit.form().raw("email").to_owned(),
    };
    Ok(render::page_with(status, visit, &viewer, &page))
}

async fn add(visit: Visit) -> PageResult<HttpResponse> {
    let address = visit.form().text("email").to_owned();
    let (_, added) = visit
        .submit(move |app, signed_in| {
            email::add(app, signed_in.actor, Owner::Actor, Some(&address)).map(drop)
        })
        .await?;
    match added {
        Ok(()) => Ok(render::see_other_with(&visit, EMAILS, Notice::Created)),
        Err(faults) => show_list(&visit, StatusCode::UNPROCESSABLE_ENTITY, faults).await,
    }
}

async fn remove(visit: Visit) -> PageResult<HttpResponse> {
    let id = EmailId(visit.id("id"));
    visit
        .run_signed_in(move |app, signed_in| {
            email::remove_own(app, signed_in.actor, id)?.ok_or(Error::NotFound(Entity::Email))
        })
        .await?;
    Ok(render::see_other_with(&visit, EMAILS, Notice::Removed))
}
