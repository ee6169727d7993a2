//! One issue with its discussion.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::issue::page::{self, IssuePage};
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_domain::merge_request::MergeRequest;
use hexforge_domain::policy::tracker::TrackerAbility;

use super::form::description;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::frame::{Frame, Pager};
use crate::moment::Moment;
use crate::pages::discussion::handlers::TypedComment;
use crate::pages::discussion::{NOTES_PER_PAGE, RenderedTexts, Thread};
use crate::pages::merge_requests::state_name;
use crate::pages::project::{frame_of, other_spelling};
use crate::pages::tracker::{LabelChip, Person, number};
use crate::prose::Prose;
use crate::render;
use crate::visit::{Viewer, Visit};

#[derive(Template)]
#[template(path = "issue.html")]
struct ShowPage {
    frame: Frame,
    /// `/namespace/project`.
    base: String,
    /// The address of this issue.
    one: String,
    title: String,
    iid: i64,
    is_open: bool,
    is_confidential: bool,
    author: Person,
    at: Moment,
    description: Prose,
    labels: Vec<LabelChip>,
    milestone: Option<(String, i64)>,
    assignee: Option<Person>,
    due_date: Option<String>,
    participants: Vec<Person>,
    related: Vec<RelatedRequest>,
    moved_to: Option<(String, i64)>,
    subscribed: bool,
    thread: Thread,
    comment: CommentForm,
    may_comment: bool,
    may_update: bool,
    may_move: bool,
    may_delete: bool,
    move_to: String,
    move_faults: Faults,
}

/// A merge request that mentions the issue.
struct RelatedRequest {
    iid: i64,
    title: String,
    state: &'static str,
}

impl From<MergeRequest> for RelatedRequest {
    fn from(request: MergeRequest) -> Self {
        Self {
            iid: request.iid,
            state: state_name(request.state),
            title: request.title.as_str().to_owned(),
        }
    }
}

/// The form "Add a comment".
#[derive(Default)]
pub(in crate::pages) struct CommentForm {
    pub(in crate::pages) text: String,
    pub(in crate::pages) faults: Faults,
    pub(in crate::pages) preview: Option<Prose>,
}

/// What was typed into the forms of the page, to show it again.
#[derive(Default)]
pub(super) struct Typed {
    pub(super) comment: TypedComment,
    pub(super) move_to: String,
    pub(super) move_faults: Faults,
}

pub(super) async fn show(visit: Visit) -> PageResult<HttpResponse> {
    show_with(&visit, StatusCode::OK, Typed::default()).await
}

/// Shows the issue with what was typed.
pub(super) async fn show_with(
    visit: &Visit,
    status: StatusCode,
    typed: Typed,
) -> PageResult<HttpResponse> {
    let (named, iid) = (visit.project(), number(visit, "iid")?);
    let asked = visit.long_page(NOTES_PER_PAGE);
    let preview = typed.comment.is_preview.then(|| typed.comment.text.clone());
    let (viewer, (project, shown, texts)) = visit
        .run(move |app, viewer| {
            let actor = viewer.actor();
            let project = project_page::get(app, actor, &named)?;
            let shown = page::show(app, actor, &named, iid, asked)?;
            let texts = RenderedTexts::new(
                app,
                actor,
                (&named, &project.path()),
                description(&shown.view),
                &shown.discussion,
                preview.as_deref(),
            )?;
            Ok((project, shown, texts))
        })
        .await?;
    if status == StatusCode::OK
        && !typed.comment.is_preview
        && let Some(redirect) = other_spelling(visit, &project)
    {
        return Ok(redirect);
    }
    let page = build(visit, &viewer, &project, shown, texts, typed);
    Ok(render::page_with(status, visit, &viewer, &page))
}

fn build(
    visit: &Visit,
    viewer: &Viewer,
    project: &ProjectPage,
    shown: IssuePage,
    texts: RenderedTexts,
    typed: Typed,
) -> ShowPage {
    let IssuePage { view, labels, discussion, participants, related, moved_to, .. } = shown;
    let issue = &view.issue;
    let what = format!("{} (#{})", issue.title.as_str(), issue.iid);
    let frame = Frame::of_project(visit, viewer, &what, frame_of(project, "Issues"));
    let base = format!("/{}", project.path());
    let asked = visit.long_page(NOTES_PER_PAGE);
    let pager = Pager::of_page(visit, asked, discussion.notes.total);
    let RenderedTexts { description, notes, preview } = texts;
    let people = (viewer.actor().user(), issue.author);
    ShowPage {
        one: format!("{base}/issues/{}", issue.iid),
        title: issue.title.as_str().to_owned(),
        iid: issue.iid,
        is_open: issue.state.is_open(),
        is_confidential: issue.confidential,
        author: Person::from(&view.author),
        at: frame.moment(issue.created_at),
        description,
        labels: LabelChip::all(&view.labels, &labels, &format!("{base}/issues")),
        milestone: view.milestone.as_ref().map(|one| (one.title.as_str().to_owned(), one.id.0)),
        assignee: view.assignee.as_ref().map(Person::from),
        due_date: issue.due_date.map(|day| day.to_string()),
        participants: participants.iter().map(Person::from).collect(),
        related: related.into_iter().map(RelatedRequest::from).collect(),
        moved_to,
        subscribed: view.subscribed,
        thread: Thread::new(&frame, &discussion, notes, pager, people),
        comment: CommentForm { text: typed.comment.text, faults: typed.comment.faults, preview },
        may_comment: project.may_track(TrackerAbility::CreateIssues),
        may_update: shown.may_update,
        may_move: shown.may_administer && issue.moved_to.is_none(),
        may_delete: shown.may_delete,
        move_to: typed.move_to,
        move_faults: typed.move_faults,
        base,
        frame,
    }
}
