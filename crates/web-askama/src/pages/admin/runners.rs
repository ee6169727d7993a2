//! The runners of the service.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::administration;
use hexforge_application::runner::administer::{self, RunnerChanges, RunnerDetails};
use hexforge_application::runner::manage;
use hexforge_domain::id::RunnerId;
use hexforge_domain::runner::Runner;

use super::super::settings::RunnerForm;
use super::frame_of;
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::frame::{Frame, Pager};
use crate::moment::Moment;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

const RUNNERS: &str = "/admin/runners";

pub(super) fn declare(pages: &mut Pages) {
    pages.get(RUNNERS, list);
    pages.post("/admin/runners/token", rotate_token);
    pages.get("/admin/runners/{id}/edit", edit);
    pages.post("/admin/runners/{id}/edit", save);
    pages.post("/admin/runners/{id}/pause", pause);
    pages.post("/admin/runners/{id}/resume", resume);
    pages.post("/admin/runners/{id}/remove", remove);
}

struct Row {
    id: RunnerId,
    description: String,
    kind: &'static str,
    tags: String,
    is_active: bool,
    contacted: Option<Moment>,
}

#[derive(Template)]
#[template(path = "admin/runners.html")]
struct RunnersPage {
    frame: Frame,
    /// The URL for runners.
    address: String,
    /// The token with which runners register, unless the settings of the program contain it.
    token: Option<String>,
    rows: Vec<Row>,
    total: u64,
    pager: Pager,
}

async fn list(visit: Visit) -> PageResult<HttpResponse> {
    let page = visit.page();
    let (viewer, (token, runners)) = visit
        .run(move |app, viewer| {
            let token = manage::service_token(app, viewer.actor())?;
            Ok((token, administer::list_all(app, viewer.actor(), None, page)?))
        })
        .await?;
    let frame = frame_of(&visit, &viewer, "Runners");
    let row = |runner: &Runner| Row {
        id: runner.id,
        description: runner.description.clone(),
        kind: if runner.shared { "Shared" } else { "Specific" },
        tags: runner.tags.iter().collect::<Vec<_>>().join(", "),
        is_active: runner.active,
        contacted: runner.contacted_at.map(|at| frame.moment(at)),
    };
    let page = RunnersPage {
        address: visit.links().to("/ci"),
        token: token.map(|token| token.reveal().to_owned()),
        rows: runners.items.iter().map(row).collect(),
        total: runners.total,
        pager: Pager::new(&visit, runners.total),
        frame,
    };
    Ok(render::unstored(render::page_with(StatusCode::OK, &visit, &viewer, &page)))
}

/// Replaces the token with which runners register. Registered runners keep working.
async fn rotate_token(visit: Visit) -> PageResult<HttpResponse> {
    visit
        .run_signed_in(|app, signed_in| {
            manage::rotate_service_token(app, signed_in.actor).map(drop)
        })
        .await?;
    Ok(render::see_other_with(&visit, RUNNERS, Notice::Saved))
}

#[derive(Template)]
#[template(path = "admin/runner.html")]
struct RunnerPage {
    frame: Frame,
    faults: Faults,
    id: RunnerId,
    kind: &'static str,
    /// The paths of the newest projects.
    projects: Vec<String>,
    form: RunnerForm,
}

async fn load(visit: &Visit) -> PageResult<(Viewer, RunnerDetails)> {
    let id = RunnerId(visit.id("id"));
    visit
        .run(move |app, viewer| {
            administration::authorize(viewer.actor())?;
            administer::get(app, viewer.actor(), id)
        })
        .await
}

fn show(
    visit: &Visit,
    viewer: &Viewer,
    status: StatusCode,
    details: &RunnerDetails,
    faults: Faults,
) -> HttpResponse {
    let runner = &details.runner;
    let page = RunnerPage {
        frame: frame_of(visit, viewer, &format!("Runner #{}", runner.id)),
        faults,
        id: runner.id,
        kind: if runner.shared { "Shared" } else { "Specific" },
        projects: details.projects.iter().map(|one| one.place.path_of(&one.project)).collect(),
        form: RunnerForm::new(visit, runner),
    };
    render::page_with(status, visit, viewer, &page)
}

async fn edit(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, details) = load(&visit).await?;
    Ok(show(&visit, &viewer, StatusCode::OK, &details, Faults::default()))
}

async fn save(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, details) = load(&visit).await?;
    let (id, form) = (details.runner.id, visit.form().clone());
    let (_, saved) = visit
        .submit(move |app, signed_in| {
            administer::update(app, signed_in.actor, id, &RunnerForm::changes(&form)?).map(drop)
        })
        .await?;
    match saved {
        Ok(()) => Ok(render::see_other_with(&visit, RUNNERS, Notice::Saved)),
        Err(faults) => {
            Ok(show(&visit, &viewer, StatusCode::UNPROCESSABLE_ENTITY, &details, faults))
        }
    }
}

async fn pause(visit: Visit) -> PageResult<HttpResponse> {
    set_active(visit, false).await
}

async fn resume(visit: Visit) -> PageResult<HttpResponse> {
    set_active(visit, true).await
}

async fn set_active(visit: Visit, active: bool) -> PageResult<HttpResponse> {
    let id = RunnerId(visit.id("id"));
    let changes = RunnerChanges { active: Some(active), ..RunnerChanges::default() };
    visit
        .run_signed_in(move |app, signed_in| {
            administer::update(app, signed_in.actor, id, &changes).map(drop)
        })
        .await?;
    Ok(render::see_other_with(&visit, RUNNERS, Notice::Saved))
}

async fn remove(visit: Visit) -> PageResult<HttpResponse> {
    let id = RunnerId(visit.id("id"));
    visit
        .run_signed_in(move |app, signed_in| administer::remove(app, signed_in.actor, id).map(drop))
        .await?;
    Ok(render::see_other_with(&visit, RUNNERS, Notice::Removed))
}
