//! The changes of a merge request, and comments on their lines.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::merge_request::page as request_page;
use hexforge_application::note::{self, NoteFields};
use hexforge_domain::note::{NoteLine, NotePosition};

use super::parts::{Opened, open};
use super::show::Head;
use crate::address;
use crate::cookies::Notice;
use crate::diff::{DiffHtml, DiffOptions, DiffView, plain_diff as diff_text, write_email};
use crate::error::PageResult;
use crate::faults::Faults;
use crate::frame::Frame;
use crate::pages::discussion::anchor_of;
use crate::pages::project::{frame_of, other_spelling};
use crate::pages::tracker::number;
use crate::render;
use crate::visit::Visit;

/// The commits in a file of patches.
const MAX_PATCHES: usize = 100;

/// The longest path that a comment may name.
const MAX_PATH: usize = 4_096;

#[derive(Template)]
#[template(path = "merge_request_diffs.html")]
struct DiffsPage {
    frame: Frame,
    head: Head,
    diff: DiffHtml,
}

pub(super) async fn diffs(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, Opened { project, view, version }) = open(&visit).await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let base = format!("/{}", project.path());
    let head = Head::new(&base, &view.request, "Changes", false);
    let mut options =
        DiffOptions::of(&visit).with_comments_at(format!("{}/diffs/comment", head.one));
    if let Some(commit) = view.request.head {
        options = options.with_files_at(&base, commit);
    }
    let read = move || {
        let options = options.with_content(|path, max| version.head_of_file(path, max))?;
        DiffView::new(&version.diffs()?, &options).to_html()
    };
    let diff = visit.run_long(|limiter| &limiter.comparisons, &viewer, read).await?;
    let section = frame_of(&project, "Merge requests");
    let frame = Frame::of_project(&visit, &viewer, &head.what(), section);
    render::page(&visit, &viewer, &DiffsPage { frame, head, diff })
}

/// The changes as `git diff` writes them.
pub(super) async fn plain_diff(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, Opened { version, .. }) = open(&visit).await?;
    let read = move || Ok(diff_text(&version.diffs()?));
    let text = visit.run_long(|limiter| &limiter.comparisons, &viewer, read).await?;
    Ok(render::foreign_bytes("text/plain; charset=utf-8").body(text))
}

/// The commits as e-mails for `git am`.
pub(super) async fn email_patches(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, Opened { version, .. }) = open(&visit).await?;
    let read = move || {
        let patches = version.patches(MAX_PATCHES)?;
        Ok(patches.iter().map(|(commit, diffs)| write_email(commit, diffs)).collect::<String>())
    };
    let text = visit.run_long(|limiter| &limiter.comparisons, &viewer, read).await?;
    Ok(render::foreign_bytes("text/plain; charset=utf-8").body(text))
}

#[derive(Template)]
#[template(path = "merge_request_comment.html")]
struct CommentPage {
    frame: Frame,
    head: Head,
    action: String,
    path: String,
    line: u32,
    text: String,
    faults: Faults,
}

/// The line that the address names.
struct Place {
    path: String,
    old: Option<u32>,
    new: Option<u32>,
}

impl Place {
    fn of(visit: &Visit) -> Self {
        let line = |name: &str| visit.query(name).and_then(|text| text.parse().ok());
        let path = visit.query("path").unwrap_or_default().chars().take(MAX_PATH).collect();
        Self { path, old: line("old"), new: line("new") }
    }

    fn number(&self) -> u32 {
        self.new.or(self.old).unwrap_or_default()
    }

    /// The position, if the address names a line.
    fn position(&self) -> Option<NotePosition> {
        if self.path.is_empty() || self.new.or(self.old).is_none() {
            return None;
        }
        let line = self.new.map_or(NoteLine::Removed, NoteLine::Added);
        Some(NotePosition { path: self.path.clone(), line })
    }
}

pub(super) async fn comment_form(visit: Visit) -> PageResult<HttpResponse> {
    show_form(&visit, StatusCode::OK, Faults::default()).await
}

async fn show_form(visit: &Visit, status: StatusCode, faults: Faults) -> PageResult<HttpResponse> {
    let (viewer, Opened { project, view, .. }) = open(visit).await?;
    let base = format!("/{}", project.path());
    let head = Head::new(&base, &view.request, "Changes", false);
    let section = frame_of(&project, "Merge requests");
    let place = Place::of(visit);
    let page = CommentPage {
        frame: Frame::of_project(visit, &viewer, &head.what(), section),
        head,
        action: visit.path_and_query(),
        line: place.number(),
        path: place.path,
        text: visit.form().raw("note").to_owned(),
        faults,
    };
    Ok(render::page_with(status, visit, &viewer, &page))
}

/// Stores a comment on a line.
pub(super) async fn comment(visit: Visit) -> PageResult<HttpResponse> {
    let (named, iid) = (visit.project(), number(&visit, "iid")?);
    let Some(position) = Place::of(&visit).position() else {
        let faults = Faults::of_form("the address names no line");
        return show_form(&visit, StatusCode::UNPROCESSABLE_ENTITY, faults).await;
    };
    let text = visit.form().raw("note").to_owned();
    let (_, done) = visit
        .submit(move |app, signed_in| {
            let actor = signed_in.actor;
            let id = request_page::find_id(app, actor, &named, iid)?;
            let fields = NoteFields { body: text.clone(), created_at: None };
            let position = Some(position.clone());
            let written = note::create_at(app, actor, &named, id.into(), &fields, position)?;
            Ok(anchor_of(app, actor, &named, id.into(), &written))
        })
        .await?;
    match done {
        Ok(anchor) => {
            let [namespace, project] = ["namespace", "project"].map(|name| visit.param(name));
            let one = address::path(format!("/{namespace}/{project}/merge_requests/{iid}"));
            Ok(render::see_other_with(&visit, &format!("{one}{anchor}"), Notice::Saved))
        }
        Err(faults) => show_form(&visit, StatusCode::UNPROCESSABLE_ENTITY, faults).await,
    }
}
