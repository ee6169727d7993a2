//! Who wrote the lines of a file.

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::repository::ref_path::Located;
use hexforge_application::repository::{self, browse};
use hexforge_domain::repository::BLAME_LINES;
use hexforge_http_edge::conditional::ETag;

use super::conditions::{self, Conditions};
use super::file::{Address, Crumb, MAX_FILE, Place, crumbs, find_place, joined, run_at};
use super::project::{CommitLine, frame_of, missing, other_spelling};
use super::raw::{HEAD, is_binary};
use crate::address;
use crate::error::PageResult;
use crate::frame::{Frame, Pager};
use crate::render;
use crate::visible;
use crate::visit::{Viewer, Visit};

/// What is read before the long work.
enum Found {
    /// The file, whether it is binary, and the tag of the page.
    File(Box<(Place, bool, Option<ETag>)>),
    Unchanged(Option<ETag>),
}

/// Lines that one commit wrote.
struct Run {
    commit: CommitLine,
    /// The blame of the file before the commit.
    before: Option<String>,
    lines: Vec<(u32, String)>,
}

#[derive(Template)]
#[template(path = "blame.html")]
struct BlamePage {
    frame: Frame,
    base: String,
    heading: String,
    crumbs: Vec<Crumb>,
    file: String,
    runs: Vec<Run>,
    is_binary: bool,
    is_too_large: bool,
    has_hidden: bool,
    pager: Pager,
}

pub(super) async fn show(visit: Visit) -> PageResult<HttpResponse> {
    let place = Address::of(&visit);
    let page = visit.page();
    let number = page.offset() / page.limit().unwrap_or(1);
    let first = u32::try_from(number).unwrap_or(u32::MAX).saturating_mul(BLAME_LINES);
    let conditions = Conditions::of(&visit);
    let find = move |app: &App, viewer: &Viewer| {
        let place = find_place(app, viewer.actor(), &place)?;
        let Located { at, name, path } = &place.located;
        let tag = conditions.tag(app, viewer, &place.project, name, at.commit());
        if conditions.has(tag.as_ref()) {
            return Ok(Found::Unchanged(tag));
        }
        // Says so before the long work if there is no such file.
        match repository::head_at(at, path, HEAD)? {
            Some(head) => Ok(Found::File(Box::new((place, is_binary(&head), tag)))),
            None => Err(missing()),
        }
    };
    let (viewer, (Place { project, located }, is_binary, tag)) = match run_at(&visit, find).await? {
        (viewer, Found::File(file)) => (viewer, *file),
        (_, Found::Unchanged(tag)) => return Ok(conditions::unchanged(tag)),
    };
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let Located { at, name, path } = located;
    let read = {
        let path = path.clone();
        move || {
            let last = first.saturating_add(BLAME_LINES);
            let view = browse::blame(&at, &path, first.saturating_add(1)..=last)?;
            let file = repository::file(at, &path)?;
            let is_too_large = file.size() > MAX_FILE;
            let bytes = if is_too_large { Vec::new() } else { file.head(MAX_FILE as usize)? };
            Ok::<_, Error>((view, bytes, is_too_large))
        }
    };
    let (view, bytes, is_too_large) = match is_binary {
        true => Default::default(),
        false => visit.run_costly(|limiter| &limiter.comparisons, &viewer, read).await?,
    };
    let base = format!("/{}", project.path());
    let frame =
        Frame::of_project(&visit, &viewer, &visible::name(&path), frame_of(&project, "Files"));
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let runs = view.blame.runs.iter().filter_map(|run| {
        let commit = CommitLine::new(view.commits.get(&run.commit)?, &frame);
        let before = run.previous.as_ref().map(|(commit, path)| {
            format!("{base}/blame/{}", address::path(format!("{commit}/{path}")))
        });
        let numbers = run.first..run.first.saturating_add(run.count);
        let shown = numbers.map(|number| {
            let line = lines.get(number.saturating_sub(1) as usize).copied().unwrap_or_default();
            (number, visible::line(line))
        });
        Some(Run { commit, before, lines: shown.collect() })
    });
    let page = BlamePage {
        heading: visible::name(path.rsplit('/').next().unwrap_or(&path)),
        crumbs: crumbs(&base, project.placed.project.name.as_str(), &name, &path),
        file: format!("{base}/blob/{}", address::path(joined(&name, &path))),
        has_hidden: visible::has_hidden(&text),
        runs: runs.collect(),
        is_binary,
        is_too_large,
        pager: Pager::uncounted(&visit, view.blame.lines > first.saturating_add(BLAME_LINES)),
        frame,
        base,
    };
    Ok(conditions::tagged(render::page(&visit, &viewer, &page)?, tag))
}
