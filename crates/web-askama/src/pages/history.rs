//! The commits of a branch, or of a file or folder.

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::repository::commits::{self, CommitFilter};
use hexforge_application::repository::ref_path::Located;

use super::file::{Address, Place, find_place};
use super::project::{CommitLine, frame_of, other_spelling};
use crate::error::PageResult;
use crate::frame::{Frame, Pager};
use crate::render;
use crate::visit::Visit;

/// Commits on a page.
const COMMITS: usize = 40;

#[derive(Template)]
#[template(path = "commits.html")]
struct Commits {
    frame: Frame,
    base: String,
    place: String,
    commits: Vec<CommitLine>,
    pager: Pager,
}

pub(super) async fn commits(visit: Visit) -> PageResult<HttpResponse> {
    let place = Address::of(&visit);
    let page = visit.page();
    let number = page.offset() / page.limit().unwrap_or(1);
    let skip = number.saturating_mul(COMMITS as u64);
    let (viewer, Place { project, located }) =
        visit.run(move |app, viewer| find_place(app, viewer.actor(), &place)).await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let Located { at, name, path } = located;
    let filter = CommitFilter {
        path: (!path.is_empty()).then(|| path.clone()),
        skip,
        limit: COMMITS + 1,
        ..CommitFilter::default()
    };
    let walk = move || commits::list(&at, filter);
    let mut found = visit.run_long(|limiter| &limiter.comparisons, &viewer, walk).await?;
    let place = if path.is_empty() { name } else { format!("{path} at {name}") };
    let has_more = found.len() > COMMITS;
    found.truncate(COMMITS);
    let frame = Frame::of_project(&visit, &viewer, "Commits", frame_of(&project, "Commits"));
    let page = Commits {
        base: format!("/{}", project.path()),
        place,
        commits: found.iter().map(|commit| CommitLine::new(commit, &frame)).collect(),
        pager: Pager::uncounted(&visit, has_more),
        frame,
    };
    render::page(&visit, &viewer, &page)
}
