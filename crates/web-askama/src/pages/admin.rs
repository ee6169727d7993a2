//! Administration. To everybody but administrators, these pages do not exist.

mod broadcasts;
mod hooks;
mod lists;
mod runners;
mod settings;
mod users;

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::administration::{self, Numbers};
use hexforge_domain::delivery::QueueSize;

use crate::error::PageResult;
use crate::frame::Frame;
use crate::moment::Moment;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/admin", overview);
    users::declare(pages);
    lists::declare(pages);
    hooks::declare(pages);
    runners::declare(pages);
    settings::declare(pages);
    broadcasts::declare(pages);
    pages.get("/admin/system_info", system_info);
    pages.get("/admin/health_check", health_check);
    pages.get("/admin/background_jobs", background_jobs);
}

/// The frame of a page of administrators.
fn frame_of(visit: &Visit, viewer: &Viewer, what: &str) -> Frame {
    let mut frame = Frame::new(visit, viewer, what);
    if what != "Administration" {
        frame.title = format!("{what} · Administration · hexforge");
    }
    frame
}

#[derive(Template)]
#[template(path = "admin/overview.html")]
struct OverviewPage {
    frame: Frame,
    numbers: Numbers,
    queue: QueueSize,
    is_healthy: bool,
    version: &'static str,
}

async fn overview(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, (numbers, queue, is_healthy)) = visit
        .run(|app, viewer| {
            let actor = viewer.actor();
            Ok((
                administration::numbers(app, actor)?,
                administration::queue(app, actor)?,
                administration::is_healthy(app, actor)?,
            ))
        })
        .await?;
    let frame = frame_of(&visit, &viewer, "Administration");
    let version = env!("CARGO_PKG_VERSION");
    let page = OverviewPage { frame, numbers, queue, is_healthy, version };
    render::page(&visit, &viewer, &page)
}

/// A page of facts: names and values.
#[derive(Template)]
#[template(path = "admin/facts.html")]
struct FactsPage {
    frame: Frame,
    heading: &'static str,
    facts: Vec<(&'static str, String)>,
}

async fn system_info(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, ()) = visit.run(|_, viewer| administration::authorize(viewer.actor())).await?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let settings = &visit.app().settings;
    let facts = vec![
        ("Version", env!("CARGO_PKG_VERSION").to_owned()),
        ("System", format!("{} on {}", std::env::consts::OS, std::env::consts::ARCH)),
        ("Processors", processors.to_string()),
        ("Process", std::process::id().to_string()),
        ("External URL", visit.links().to("/")),
        ("Session of the API", format!("{} minutes", settings.session.num_minutes())),
    ];
    let frame = frame_of(&visit, &viewer, "System info");
    render::page(&visit, &viewer, &FactsPage { frame, heading: "System info", facts })
}

async fn health_check(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, is_healthy) =
        visit.run(|app, viewer| administration::is_healthy(app, viewer.actor())).await?;
    let state = if is_healthy { "Healthy" } else { "Not ready" };
    let facts = vec![
        ("Database", state.to_owned()),
        ("Liveness", visit.links().to("/-/liveness")),
        ("Readiness", visit.links().to("/-/readiness")),
    ];
    let frame = frame_of(&visit, &viewer, "Health check");
    render::page(&visit, &viewer, &FactsPage { frame, heading: "Health check", facts })
}

async fn background_jobs(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, queue) =
        visit.run(|app, viewer| administration::queue(app, viewer.actor())).await?;
    let frame = frame_of(&visit, &viewer, "Background jobs");
    let oldest: Option<Moment> = queue.oldest.map(|at| frame.moment(at));
    let facts = vec![
        ("Events that wait for hooks", queue.events.to_string()),
        ("Deliveries that wait", queue.deliveries.to_string()),
        ("Oldest delivery", oldest.map_or_else(|| "None".to_owned(), |at| at.words)),
    ];
    render::page(&visit, &viewer, &FactsPage { frame, heading: "Background jobs", facts })
}
