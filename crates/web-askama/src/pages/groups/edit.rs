//! The settings of a group.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::group;
use hexforge_application::group::page as group_page;
use hexforge_domain::group::GroupRef;
use hexforge_domain::namespace::Namespace;

use super::{GroupFrame, frame_of, named, new};
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::forms::Choice;
use crate::frame::Frame;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/groups/{path}/edit", form);
    pages.post("/groups/{path}/edit", change);
    pages.post("/groups/{path}/remove", remove);
}

#[derive(Template)]
#[template(path = "group/edit.html")]
struct EditPage {
    frame: Frame,
    group: GroupFrame,
    faults: Faults,
    removal_faults: Faults,
    typed_name: String,
    path: String,
    description: String,
    levels: Vec<Choice>,
}

/// The faults of the two forms of the page.
#[derive(Default)]
struct AllFaults {
    general: Faults,
    removal: Faults,
}

async fn form(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, group) = load(&visit).await?;
    Ok(show(&visit, &viewer, StatusCode::OK, &group, AllFaults::default()))
}

async fn load(visit: &Visit) -> PageResult<(Viewer, Namespace)> {
    let named = named(visit);
    visit.run(move |app, viewer| group_page::get_to_edit(app, viewer.actor(), &named)).await
}

fn show(
    visit: &Visit,
    viewer: &Viewer,
    status: StatusCode,
    group: &Namespace,
    faults: AllFaults,
) -> HttpResponse {
    let form = visit.form();
    let typed = |name: &str, stored: &str| form.given(name).unwrap_or(stored).to_owned();
    let page = EditPage {
        frame: frame_of(visit, viewer, "Group settings", group),
        group: GroupFrame {
            path: group.path.as_str().to_owned(),
            name: group.name.clone(),
            section: "Settings",
            may_edit: true,
            may_create: true,
        },
        faults: faults.general,
        removal_faults: faults.removal,
        typed_name: typed("name", &group.name),
        path: typed("path", group.path.as_str()),
        description: typed("description", &group.description),
        levels: new::levels(form, group.visibility),
    };
    render::page_with(status, visit, viewer, &page)
}

async fn change(visit: Visit) -> PageResult<HttpResponse> {
    let (_, group) = load(&visit).await?;
    let (named, fields) = (GroupRef::new(group.path.as_str()), new::fields(visit.form()));
    let (viewer, changed) = visit
        .submit(move |app, signed_in| group::update(app, signed_in.actor, &named, &fields))
        .await?;
    match changed {
        Ok(detail) => {
            let address = format!("/groups/{}/edit", detail.group.path.as_str());
            Ok(render::see_other_with(&visit, &address, Notice::Saved))
        }
        Err(general) => {
            let faults = AllFaults { general, ..AllFaults::default() };
            Ok(show(&visit, &viewer, StatusCode::UNPROCESSABLE_ENTITY, &group, faults))
        }
    }
}

/// Removes the group, if its path was typed.
async fn remove(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, group) = load(&visit).await?;
    if visit.form().text("confirmation") != group.path.as_str() {
        let removal = Faults::of_field("confirmation", "is not the path of the group");
        let faults = AllFaults { removal, ..AllFaults::default() };
        return Ok(show(&visit, &viewer, StatusCode::UNPROCESSABLE_ENTITY, &group, faults));
    }
    let named = GroupRef::new(group.path.as_str());
    visit.run_signed_in(move |app, signed_in| group::delete(app, signed_in.actor, &named)).await?;
    Ok(render::see_other_with(&visit, "/dashboard/groups", Notice::Removed))
}
