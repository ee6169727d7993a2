//! One commit with its changes.

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::project::page as project_page;
use hexforge_application::repository;
use hexforge_application::repository::commits;
use hexforge_domain::repository::FileDiff;

use super::project::{CommitLine, frame_of, missing, other_spelling};
use crate::diff::FileChange;
use crate::error::PageResult;
use crate::frame::Frame;
use crate::moment::count;
use crate::render;
use crate::visit::Visit;

/// Files on a page.
const MAX_FILES: usize = 100;

/// The lines of all files on a page. Files after that are folded.
const MAX_LINES: usize = 3_000;

#[derive(Template)]
#[template(path = "commit.html")]
struct CommitPage {
    frame: Frame,
    base: String,
    line: CommitLine,
    message: String,
    email: String,
    parents: Vec<String>,
    summary: String,
    files: Vec<FileChange>,
    is_cut: bool,
}

pub(super) async fn show(visit: Visit) -> PageResult<HttpResponse> {
    let (named, client, sha) = (visit.project(), visit.address(), visit.param("sha"));
    let is_id = (7..=40).contains(&sha.len()) && sha.bytes().all(|byte| byte.is_ascii_hexdigit());
    let (viewer, (project, at, status)) = visit
        .run(move |app, viewer| {
            let project = project_page::get(app, viewer.actor(), &named)?;
            let readable = repository::readable(app, viewer.actor(), client, &named)?;
            if !is_id {
                return Err(missing());
            }
            let at = repository::revision(app, &readable, &sha)?.ok_or_else(missing)?;
            let status = commits::status(app, &readable, &at)?;
            Ok((project, at, status))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let read = move || Ok((commits::get(&at, status)?, commits::diff(&at)?));
    let (view, diffs) = visit.run_long(|limiter| &limiter.comparisons, &viewer, read).await?;
    let title = view.commit.title();
    let frame = Frame::of_project(&visit, &viewer, &title, frame_of(&project, "Commits"));
    let message = view.commit.message.split_once('\n').map_or("", |(_, rest)| rest).trim();
    let (files, is_cut) = changes(&diffs);
    let page = CommitPage {
        base: format!("/{}", project.path()),
        line: CommitLine::new(&view.commit, &frame),
        message: message.to_owned(),
        email: view.commit.author.email.clone(),
        parents: view.commit.parents.iter().map(ToString::to_string).collect(),
        summary: summary(diffs.len(), view.stats.additions, view.stats.deletions),
        files,
        is_cut,
        frame,
    };
    render::page(&visit, &viewer, &page)
}

/// `2 changed files with 3 additions and 1 deletion`.
pub(super) fn summary(files: usize, additions: u64, deletions: u64) -> String {
    format!(
        "{} with {} and {}",
        count(files as u64, "changed file"),
        count(additions, "addition"),
        count(deletions, "deletion")
    )
}

/// The files of a diff, as far as a page shows them.
pub(super) fn changes(diffs: &[FileDiff]) -> (Vec<FileChange>, bool) {
    let mut left = MAX_LINES;
    let shown = diffs.iter().take(MAX_FILES).map(|diff| {
        let change = FileChange::new(diff, left);
        left = left.saturating_sub(change.lines());
        change
    });
    (shown.collect(), diffs.len() > MAX_FILES)
}
