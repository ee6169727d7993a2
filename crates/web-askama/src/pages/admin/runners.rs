//! The runners of the service.

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::runner::administer::{self, RunnerChanges};
use hexforge_domain::id::RunnerId;
use hexforge_domain::runner::Runner;

use super::frame_of;
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::frame::{Frame, Pager};
use crate::moment::Moment;
use crate::render;
use crate::table::Pages;
use crate::visit::Visit;

const RUNNERS: &str = "/admin/runners";

pub(super) fn declare(pages: &mut Pages) {
    pages.get(RUNNERS, list);
    pages.post("/admin/runners/{id}/pause", pause);
    pages.post("/admin/runners/{id}/resume", resume);
    pages.post("/admin/runners/{id}/remove", remove);
}

struct Row {
    id: RunnerId,
    description: String,
    kind: &'static str,
    is_active: bool,
    contacted: Option<Moment>,
}

#[derive(Template)]
#[template(path = "admin/runners.html")]
struct RunnersPage {
    frame: Frame,
    rows: Vec<Row>,
    total: u64,
    pager: Pager,
}

async fn list(visit: Visit) -> PageResult<HttpResponse> {
    let page = visit.page();
    let (viewer, runners) =
        visit.run(move |app, viewer| administer::list_all(app, viewer.actor(), None, page)).await?;
    let frame = frame_of(&visit, &viewer, "Runners");
    let row = |runner: &Runner| Row {
        id: runner.id,
        description: runner.description.clone(),
        kind: if runner.shared { "Shared" } else { "Specific" },
        is_active: runner.active,
        contacted: runner.contacted_at.map(|at| frame.moment(at)),
    };
    let page = RunnersPage {
        rows: runners.items.iter().map(row).collect(),
        total: runners.total,
        pager: Pager::new(&visit, runners.total),
        frame,
    };
    render::page(&visit, &viewer, &page)
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
