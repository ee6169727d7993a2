//! Comments on a commit and on its lines.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::commit::comment::{self, CommentFields, LineFields};
use hexforge_application::repository::{self, commits};
use hexforge_application::view::note::NoteView;
use hexforge_domain::note::{NoteLine, NotePosition};
use hexforge_domain::repository::LineSide;

use super::{Found, Named, find, show_with};
use crate::cookies::Notice;
use crate::diff::{LinePlace, find_line};
use crate::error::{PageError, PageResult};
use crate::faults::Faults;
use crate::frame::Frame;
use crate::moment::Moment;
use crate::pages::project::{frame_of, other_spelling};
use crate::pages::tracker::Person;
use crate::prose::Prose;
use crate::render;
use crate::visible;
use crate::visit::Visit;

/// The longest path that a comment may name.
const MAX_PATH: usize = 4_096;

/// A comment as the page of the commit shows it.
pub(super) struct Comment {
    pub(super) id: i64,
    pub(super) author: Person,
    pub(super) at: Moment,
    /// The line that the comment is on.
    pub(super) place: Option<LinePlace>,
    pub(super) body: Prose,
}

impl Comment {
    pub(super) fn new(view: &NoteView, body: Prose, frame: &Frame) -> Self {
        Self {
            id: view.note.id.0,
            author: Person::from(&view.author),
            at: frame.moment(view.note.created_at),
            place: view.note.position.as_ref().map(LinePlace::from),
            body,
        }
    }
}

#[derive(Template)]
#[template(path = "commit_comment.html")]
struct CommentPage {
    frame: Frame,
    action: String,
    back: String,
    path: String,
    line: u32,
    /// The line with its sign, if the commit has it.
    shown: Option<String>,
    text: String,
    faults: Faults,
}

/// The line in an address: the fields of the comment, and the number of the line on its side. A removed line is found by
/// the number of the next line of the new file.
fn line_of(visit: &Visit) -> Option<(LineFields, u32)> {
    let number = |name: &str| visit.query(name)?.parse::<u32>().ok();
    let path: String = visit.query("path")?.chars().take(MAX_PATH).collect();
    let (side, number, shown) = match number("new") {
        Some(number) => (LineSide::New, number, number),
        None => (LineSide::Old, number("next")?, number("old")?),
    };
    Some((LineFields { path, number: number.into(), side }, shown))
}

/// The form for a comment on a line.
pub(super) async fn form(visit: Visit) -> PageResult<HttpResponse> {
    show_form(&visit, StatusCode::OK, Faults::default()).await
}

async fn show_form(visit: &Visit, status: StatusCode, faults: Faults) -> PageResult<HttpResponse> {
    let (viewer, Found { project, at, .. }) = find(visit).await?;
    if viewer.signed_in().is_none() {
        return Err(PageError::sign_in());
    }
    if let Some(redirect) = other_spelling(visit, &project) {
        return Ok(redirect);
    }
    let Some((LineFields { path, side, .. }, line)) = line_of(visit) else {
        return Err(PageError::not_found(viewer));
    };
    let back = format!("/{}/commit/{}", project.path(), at.commit());
    let position = NotePosition {
        path: path.clone(),
        line: match side {
            LineSide::New => NoteLine::Added(line),
            LineSide::Old => NoteLine::Removed(Some(line)),
        },
    };
    let read = move || {
        let changes = commits::changes(&at)?;
        find_line(&changes.diffs, &position, |path, max| repository::head_at(&at, path, max))
    };
    let shown = visit.run_shared(|limiter| &limiter.comparisons, &viewer, read).await?;
    let page = CommentPage {
        frame: Frame::of_project(visit, &viewer, "Comment", frame_of(&project, "Commits")),
        action: visit.path_and_query(),
        back,
        path: visible::name(&path),
        line,
        shown,
        text: visit.form().raw("note").to_owned(),
        faults,
    };
    Ok(render::page_with(status, visit, &viewer, &page))
}

/// Stores a comment on the commit, or on the line that the address names.
pub(super) async fn create(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, Found { project, at, .. }) = find(&visit).await?;
    if viewer.signed_in().is_none() {
        return Err(PageError::ended(viewer));
    }
    let (line, note) = (line_of(&visit).map(|(line, _)| line), visit.form().raw("note").to_owned());
    let page = format!("/{}/commit/{}", project.path(), at.commit());
    let wanted = line.clone();
    let search = move || comment::find_line(&at, wanted.as_ref());
    let found = visit.run_long(|limiter| &limiter.comparisons, &viewer, search).await?;
    let (named, fields) = (Named::of(&visit), CommentFields { note, line });
    let is_on_line = fields.line.is_some();
    let (_, done) = visit
        .submit(move |app, signed_in| {
            let Found { readable, at, .. } = Found::read(app, signed_in.actor, &named)?;
            comment::create(app, &readable, &at, found.as_ref(), &fields)
        })
        .await?;
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    match done {
        Ok(written) => {
            let address = format!("{page}#note_{}", written.note.id);
            Ok(render::see_other_with(&visit, &address, Notice::Saved))
        }
        Err(faults) if is_on_line => show_form(&visit, status, faults).await,
        Err(faults) => show_with(&visit, status, faults).await,
    }
}
