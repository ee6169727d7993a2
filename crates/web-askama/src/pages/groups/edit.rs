//! The settings of a group.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::group;
use hexforge_application::group::fields::GroupFields;
use hexforge_application::group::page as group_page;
use hexforge_domain::group::GroupRef;
use hexforge_domain::namespace::Namespace;

use super::{GroupFrame, frame_of, named, new, other_spelling, spelled};
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::forms::{Choice, Form};
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
    may_request_access: bool,
    has_lfs: bool,
}

/// The faults of the two forms of the page.
#[derive(Default)]
struct AllFaults {
    general: Faults,
    removal: Faults,
}

async fn form(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, group) = load(&visit).await?;
    if let Some(redirect) = other_spelling(&visit, &visit.param("path"), &group) {
        return Ok(redirect);
    }
    Ok(show(&visit, &viewer, StatusCode::OK, &group, AllFaults::default()))
}

async fn load(visit: &Visit) -> PageResult<(Viewer, Namespace)> {
    let named = named(visit);
    visit
        .run(move |app, viewer| {
            group_page::get_to_edit(app, viewer.actor(), &spelled(app, &named)?)
        })
        .await
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
            id: group.id,
            path: group.path.as_str().to_owned(),
            name: group.name.clone(),
            section: "Settings",
            may_edit: true,
            may_create: true,
            is_user: true,
        },
        faults: faults.general,
        removal_faults: faults.removal,
        typed_name: typed("name", &group.name),
        path: typed("path", group.path.as_str()),
        description: typed("description", &group.description),
        levels: new::levels(form, group.visibility),
        may_request_access: switch(form, "request_access_enabled", group.request_access_enabled),
        has_lfs: switch(form, "lfs_enabled", group.lfs_enabled.unwrap_or(true)),
    };
    render::page_with(status, visit, viewer, &page)
}

/// What a checkbox shows: the form that was sent, or what is stored.
fn switch(form: &Form, name: &str, stored: bool) -> bool {
    if form.given("switches").is_some() { form.is_set(name) } else { stored }
}

/// The fields of the form. A group that says nothing about LFS keeps that, while the checkbox shows the default.
fn fields(form: &Form, group: &Namespace) -> GroupFields {
    let is_sent = form.given("switches").is_some();
    let lfs = form.is_set("lfs_enabled");
    GroupFields {
        request_access_enabled: is_sent.then(|| form.is_set("request_access_enabled")),
        lfs_enabled: (is_sent && group.lfs_enabled.unwrap_or(true) != lfs).then_some(lfs),
        ..new::fields(form)
    }
}

async fn change(visit: Visit) -> PageResult<HttpResponse> {
    let (_, group) = load(&visit).await?;
    let (named, fields) = (GroupRef::new(group.path.as_str()), fields(visit.form(), &group));
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
