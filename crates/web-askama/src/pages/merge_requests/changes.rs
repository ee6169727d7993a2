//! The changes of a merge request, and comments on their lines.

use std::collections::HashSet;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::merge_request::changes::{self, MAX_LINE_NOTES, RequestChanges};
use hexforge_application::merge_request::page as request_page;
use hexforge_application::note::{self, NoteFields};
use hexforge_application::project::page as project_page;
use hexforge_application::view::note::NoteView;
use hexforge_domain::note::{NoteLine, NotePosition};
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectRef;

use super::parts::{Opened, open};
use super::show::Head;
use crate::address;
use crate::cookies::Notice;
use crate::diff::{
    DiffHtml, DiffOptions, DiffView, LineNote, find_line, plain_diff as diff_text, write_email,
};
use crate::error::PageResult;
use crate::faults::Faults;
use crate::frame::Frame;
use crate::pages::discussion::anchor_of;
use crate::pages::project::{frame_of, other_spelling};
use crate::pages::tracker::number;
use crate::prose::{Prose, ProseRenderer};
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
    /// The number of comments on lines that are read, if there are more.
    notes_of_more: Option<u32>,
    diff: DiffHtml,
}

pub(super) async fn diffs(visit: Visit) -> PageResult<HttpResponse> {
    let (named, iid) = (visit.project(), number(&visit, "iid")?);
    let (viewer, (project, opened)) = visit
        .run(move |app, viewer| {
            let project = project_page::get(app, viewer.actor(), &named)?;
            Ok((project, changes::open(app, viewer.actor(), &named, iid)?))
        })
        .await?;
    let RequestChanges { view, version, line_notes, has_more_line_notes } = opened;
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
    let section = frame_of(&project, "Merge requests");
    let frame = Frame::of_project(&visit, &viewer, &head.what(), section);
    let line_note = |view: &NoteView| {
        // The text is rendered when the changes are known.
        let body = Prose { html: None, text: view.note.body.as_str().to_owned() };
        let note = LineNote::new(view, body, &frame, &head.one)?;
        Some(note.mark_earlier(&view.note, version.version()))
    };
    let mut notes: Vec<LineNote> = line_notes.iter().filter_map(line_note).collect();
    let (app, actor) = (visit.shared_app(), viewer.actor());
    let (named, path) = (visit.project(), project.path());
    let read = move || {
        let options = options.with_content(|path, max| version.head_of_file(path, max))?;
        let diffs = version.diffs()?;
        let paths: HashSet<&str> = diffs.iter().map(|diff| diff.new_path.as_str()).collect();
        notes.retain(|note| paths.contains(note.position.path.as_str()));
        render_notes(&app, actor, (&named, &path), &mut notes)?;
        DiffView::new(&diffs, &options).with_notes(notes).to_html()
    };
    let diff = visit.run_long(|limiter| &limiter.comparisons, &viewer, read).await?;
    let notes_of_more = has_more_line_notes.then_some(MAX_LINE_NOTES);
    render::page(&visit, &viewer, &DiffsPage { frame, head, notes_of_more, diff })
}

/// Renders the texts of comments. A page without comments needs no query for what they name.
fn render_notes(
    app: &App,
    actor: Actor,
    (named, path): (&ProjectRef, &str),
    notes: &mut [LineNote],
) -> Result<(), Error> {
    if notes.is_empty() {
        return Ok(());
    }
    let texts: Vec<&str> = notes.iter().map(|note| note.body.text.as_str()).collect();
    let mut renderer = ProseRenderer::new(app, actor, named, path, &texts)?;
    for note in notes {
        note.body = renderer.render(&note.body.text);
    }
    Ok(())
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
    /// The line with its sign, if the changes have it.
    shown: Option<String>,
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
        let line = self.new.map_or(NoteLine::Removed(self.old), NoteLine::Added);
        Some(NotePosition { path: self.path.clone(), line })
    }
}

pub(super) async fn comment_form(visit: Visit) -> PageResult<HttpResponse> {
    show_form(&visit, StatusCode::OK, Faults::default()).await
}

async fn show_form(visit: &Visit, status: StatusCode, faults: Faults) -> PageResult<HttpResponse> {
    let (viewer, Opened { project, view, version }) = open(visit).await?;
    let base = format!("/{}", project.path());
    let head = Head::new(&base, &view.request, "Changes", false);
    let section = frame_of(&project, "Merge requests");
    let place = Place::of(visit);
    let position = place.position();
    let read = move || match position {
        Some(position) => {
            find_line(&version.diffs()?, &position, |path, max| version.head_of_file(path, max))
        }
        None => Ok(None),
    };
    let shown = visit.run_long(|limiter| &limiter.comparisons, &viewer, read).await?;
    let page = CommentPage {
        frame: Frame::of_project(visit, &viewer, &head.what(), section),
        head,
        action: visit.path_and_query(),
        line: place.number(),
        shown,
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
