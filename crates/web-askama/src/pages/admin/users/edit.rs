//! New users, and changes of users.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::administration;
use hexforge_application::user;
use hexforge_application::user::fields::UserFields;
use hexforge_application::view::user::FullUser;
use hexforge_domain::text::Secret;

use super::super::frame_of;
use super::load;
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::forms::Form;
use crate::frame::Frame;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/admin/users/new", new);
    pages.post("/admin/users", create);
    pages.get("/admin/users/{username}/edit", edit);
    pages.post("/admin/users/{username}/edit", change);
}

#[derive(Template)]
#[template(path = "admin/user_form.html")]
struct UserForm {
    frame: Frame,
    faults: Faults,
    heading: &'static str,
    action: String,
    button: &'static str,
    is_new: bool,
    values: Values,
}

/// The values that the form shows. The password is never shown again.
struct Values {
    name: String,
    username: String,
    email: String,
    projects_limit: String,
    is_admin: bool,
    is_external: bool,
    can_create_group: bool,
}

impl Values {
    fn typed(form: &Form) -> Self {
        Self {
            name: form.raw("name").to_owned(),
            username: form.raw("username").to_owned(),
            email: form.raw("email").to_owned(),
            projects_limit: form.raw("projects_limit").to_owned(),
            is_admin: form.is_set("admin"),
            is_external: form.is_set("external"),
            can_create_group: form.is_set("can_create_group"),
        }
    }

    fn stored(full: &FullUser) -> Self {
        let (user, privileges) = (&full.user, &full.user.privileges);
        Self {
            name: user.name.as_str().to_owned(),
            username: user.username.as_str().to_owned(),
            email: user.email.as_str().to_owned(),
            projects_limit: privileges.projects_limit.0.to_string(),
            is_admin: privileges.admin,
            is_external: privileges.external,
            can_create_group: privileges.can_create_group,
        }
    }
}

fn fields(form: &Form) -> UserFields {
    let given = |name: &str| form.given(name).map(str::to_owned);
    let password = form.raw("password");
    UserFields {
        name: given("name"),
        username: given("username"),
        email: given("email"),
        password: (!password.is_empty()).then(|| Secret::new(password.to_owned())),
        projects_limit: given("projects_limit").filter(|limit| !limit.is_empty()),
        admin: Some(form.is_set("admin")),
        external: Some(form.is_set("external")),
        can_create_group: form
            .given("can_create_group_shown")
            .map(|_| form.is_set("can_create_group")),
        ..UserFields::default()
    }
}

async fn new(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, ()) = visit.run(|_, viewer| administration::authorize(viewer.actor())).await?;
    Ok(show_new(&visit, &viewer, StatusCode::OK, Faults::default()))
}

fn show_new(visit: &Visit, viewer: &Viewer, status: StatusCode, faults: Faults) -> HttpResponse {
    let page = UserForm {
        frame: frame_of(visit, viewer, "New user"),
        faults,
        heading: "New user",
        action: "/admin/users".to_owned(),
        button: "Create user",
        is_new: true,
        values: Values::typed(visit.form()),
    };
    render::page_with(status, visit, viewer, &page)
}

async fn create(visit: Visit) -> PageResult<HttpResponse> {
    let fields = fields(visit.form());
    let (viewer, created) =
        visit.submit(move |app, signed_in| user::create(app, signed_in.actor, &fields)).await?;
    match created {
        Ok(full) => {
            let address = format!("/admin/users/{}", full.user.username.as_str());
            Ok(render::see_other_with(&visit, &address, Notice::Created))
        }
        Err(faults) => Ok(show_new(&visit, &viewer, StatusCode::UNPROCESSABLE_ENTITY, faults)),
    }
}

async fn edit(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, full) = load(&visit).await?;
    let values = Values::stored(&full);
    Ok(show_edit(&visit, &viewer, StatusCode::OK, &full, values, Faults::default()))
}

fn show_edit(
    visit: &Visit,
    viewer: &Viewer,
    status: StatusCode,
    full: &FullUser,
    values: Values,
    faults: Faults,
) -> HttpResponse {
    let page = UserForm {
        frame: frame_of(visit, viewer, "Edit user"),
        faults,
        heading: "Edit user",
        action: format!("/admin/users/{}/edit", full.user.username.as_str()),
        button: "Save changes",
        is_new: false,
        values,
    };
    render::page_with(status, visit, viewer, &page)
}

async fn change(visit: Visit) -> PageResult<HttpResponse> {
    let (_, full) = load(&visit).await?;
    let (id, mut fields) = (full.user.id, fields(visit.form()));
    // An account keeps a username that is reserved for the service by now.
    fields.username = fields.username.filter(|name| name != full.user.username.as_str());
    let (viewer, changed) =
        visit.submit(move |app, signed_in| user::update(app, signed_in.actor, id, &fields)).await?;
    match changed {
        Ok(full) => {
            let address = format!("/admin/users/{}", full.user.username.as_str());
            Ok(render::see_other_with(&visit, &address, Notice::Saved))
        }
        Err(faults) => {
            let (status, values) = (StatusCode::UNPROCESSABLE_ENTITY, Values::typed(visit.form()));
            Ok(show_edit(&visit, &viewer, status, &full, values, faults))
        }
    }
}
