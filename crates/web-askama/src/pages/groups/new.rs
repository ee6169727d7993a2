//! A new group.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::error::Error;
use hexforge_application::group;
use hexforge_application::group::fields::GroupFields;
use hexforge_domain::policy::user::may_create_groups;
use hexforge_domain::visibility::Visibility;

use super::super::explore::visibility_name;
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::forms::{Choice, Form};
use crate::frame::Frame;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/groups/new", form);
    pages.post("/groups", create);
}

#[derive(Template)]
#[template(path = "group/new.html")]
struct NewPage {
    frame: Frame,
    faults: Faults,
    typed_name: String,
    path: String,
    description: String,
    levels: Vec<Choice>,
}

async fn form(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, ()) = visit
        .run_signed_in(|_, signed_in| match may_create_groups(&signed_in.user) {
            true => Ok(()),
            false => Err(Error::Forbidden(None)),
        })
        .await?;
    Ok(show(&visit, &viewer, StatusCode::OK, Faults::default()))
}

fn show(visit: &Visit, viewer: &Viewer, status: StatusCode, faults: Faults) -> HttpResponse {
    let form = visit.form();
    let page = NewPage {
        frame: Frame::new(visit, viewer, "New group"),
        faults,
        typed_name: form.raw("name").to_owned(),
        path: form.raw("path").to_owned(),
        description: form.raw("description").to_owned(),
        levels: levels(form, Visibility::Private),
    };
    render::page_with(status, visit, viewer, &page)
}

/// The visibility levels to choose from. The stored one is chosen, unless the form has another.
pub(super) fn levels(form: &Form, stored: Visibility) -> Vec<Choice> {
    let chosen = level_of(form).unwrap_or(stored.level().into());
    [Visibility::Private, Visibility::Internal, Visibility::Public]
        .map(|level| {
            let number = i64::from(level.level());
            Choice::new(number.to_string(), visibility_name(level), number == chosen)
        })
        .into()
}

fn level_of(form: &Form) -> Option<i64> {
    form.text("visibility_level").parse().ok()
}

/// The fields of the form.
pub(super) fn fields(form: &Form) -> GroupFields {
    let given = |name: &str| form.given(name).map(str::to_owned);
    GroupFields {
        name: given("name"),
        path: given("path"),
        description: given("description"),
        visibility_level: level_of(form),
        ..GroupFields::default()
    }
}

async fn create(visit: Visit) -> PageResult<HttpResponse> {
    let fields = fields(visit.form());
    let (viewer, created) =
        visit.submit(move |app, signed_in| group::create(app, signed_in.actor, &fields)).await?;
    match created {
        Ok(group) => {
            let address = format!("/groups/{}", group.path.as_str());
            Ok(render::see_other_with(&visit, &address, Notice::Created))
        }
        Err(faults) => Ok(show(&visit, &viewer, StatusCode::UNPROCESSABLE_ENTITY, faults)),
    }
}
