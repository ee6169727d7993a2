//! The settings of a project. They exist only for those who administer it.

mod ci;
mod general;
mod keys;
mod protected;
mod services;
mod shares;

pub(super) use ci::RunnerForm;

use actix_web::HttpResponse;
use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::project::ProjectRef;

use super::project::frame_of;
use crate::address;
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::frame::Frame;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    general::declare(pages);
    protected::declare(pages);
    keys::declare(pages);
    shares::declare(pages);
    ci::declare(pages);
    services::declare(pages);
}

/// The project of a settings page. To those who do not administer it, the page does not exist.
pub(super) fn administered(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
) -> Result<ProjectPage, Error> {
    let project = project_page::get(app, actor, named)?;
    match project.may(ProjectAbility::Administer) {
        true => Ok(project),
        false => Err(Error::Forbidden(None)),
    }
}

/// The frame of a settings page.
pub(super) fn frame(visit: &Visit, viewer: &Viewer, project: &ProjectPage, what: &str) -> Frame {
    Frame::of_project(visit, viewer, what, frame_of(project, "Settings"))
}

/// The address of the project of the request, as the request spells it.
pub(super) fn base_of(visit: &Visit) -> String {
    let path = format!("{}/{}", visit.param("namespace"), visit.param("project"));
    format!("/{}", address::path(path))
}

/// Sends the browser to a page of the same project, with a message.
pub(super) fn to_page(visit: &Visit, page: &str, notice: Notice) -> PageResult<HttpResponse> {
    Ok(render::see_other_with(visit, &format!("{}/{page}", base_of(visit)), notice))
}

/// Sends the browser to a page of the same project after a button: what was not possible is said there.
pub(super) fn after_button<T>(
    visit: &Visit,
    page: &str,
    done: Result<T, crate::faults::Faults>,
    notice: Notice,
) -> PageResult<HttpResponse> {
    to_page(visit, page, if done.is_ok() { notice } else { Notice::Refused })
}
