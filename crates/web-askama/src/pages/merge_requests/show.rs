//! One merge request with its discussion.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::merge_request::page::{self, RequestPage};
use hexforge_application::merge_request::{closing, merge};
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_application::view::issue::IssueView;
use hexforge_domain::merge_request::readiness::NotReady;
use hexforge_domain::merge_request::{MergeRequest, MergeStatus};
use hexforge_domain::paging::Page;
use hexforge_domain::policy::ci::CiAbility;
use hexforge_domain::policy::tracker::TrackerAbility;
use hexforge_domain::text::LongText;

use super::list::state_name;
use crate::address;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::frame::{Frame, Pager};
use crate::moment::Moment;
use crate::pages::discussion::handlers::TypedComment;
use crate::pages::discussion::{NOTES_PER_PAGE, RenderedTexts, Thread};
use crate::pages::issues::CommentForm;
use crate::pages::project::{frame_of, other_spelling};
use crate::pages::tracker::{LabelChip, Person, number};
use crate::prose::Prose;
use crate::render;
use crate::visit::{Viewer, Visit};

#[derive(Template)]
#[template(path = "merge_request.html")]
struct ShowPage {
    frame: Frame,
    /// `/namespace/project`.
    base: String,
    head: Head,
    author: Person,
    at: Moment,
    source: Branch,
    target: Branch,
    description: Prose,
    labels: Vec<LabelChip>,
    milestone: Option<(String, i64)>,
    assignee: Option<Person>,
    participants: Vec<Person>,
    subscribed: bool,
    thread: Thread,
    comment: CommentForm,
    may_comment: bool,
    may_update: bool,
    may_delete: bool,
    merge: MergeBox,
}

/// The head of all pages of one merge request.
pub(super) struct Head {
    /// The address of the request.
    pub(super) one: String,
    pub(super) title: String,
    pub(super) iid: i64,
    pub(super) state: &'static str,
    pub(super) section: &'static str,
    pub(super) may_update: bool,
}

impl Head {
    pub(super) fn new(
        base: &str,
        request: &MergeRequest,
        section: &'static str,
        may_update: bool,
    ) -> Self {
        Self {
            one: format!("{base}/merge_requests/{}", request.iid),
            title: request.title.as_str().to_owned(),
            iid: request.iid,
            state: state_name(request.state),
            section,
            may_update,
        }
    }

    /// The title of the document.
    pub(super) fn what(&self) -> String {
        format!("{} (!{})", self.title, self.iid)
    }
}

/// A branch at an end of the request.
struct Branch {
    name: String,
    /// The commits of the branch, if its project is known.
    address: Option<String>,
}

/// What stands in the way of merging, and the form "Merge".
struct MergeBox {
    is_open: bool,
    /// Why it cannot be merged.
    obstacle: Option<&'static str>,
    is_conflicting: bool,
    is_waiting: bool,
    is_building: bool,
    may_merge: bool,
    pipeline: Option<(i64, &'static str)>,
    message: String,
    head: String,
    faults: Faults,
    /// The commands that merge by hand.
    commands: Vec<String>,
    /// The issues that merging closes.
    closes: Vec<Closed>,
}

/// An issue that merging closes.
struct Closed {
    address: String,
    /// `#7`, with the project if it is another one.
    reference: String,
    title: String,
}

impl Closed {
    fn new(view: &IssueView, path: &str) -> Self {
        let (project, iid) = (view.project_path.as_str(), view.issue.iid);
        let prefix = if project == path { "" } else { project };
        Self {
            address: format!("/{project}/issues/{iid}"),
            reference: format!("{prefix}#{iid}"),
            title: view.issue.title.as_str().to_owned(),
        }
    }
}

/// The maximum number of issues that the page names as closed by merging.
const MAX_CLOSED: u64 = 20;

/// What was typed into the forms of the page, to show it again.
#[derive(Default)]
pub(super) struct Typed {
    pub(super) comment: TypedComment,
    pub(super) message: Option<String>,
    pub(super) merge_faults: Faults,
}

pub(super) async fn show(visit: Visit) -> PageResult<HttpResponse> {
    show_with(&visit, StatusCode::OK, Typed::default()).await
}

pub(super) fn description(request: &MergeRequest) -> &str {
    request.description.as_ref().map_or("", LongText::as_str)
}

/// Shows the merge request with what was typed.
pub(super) async fn show_with(
    visit: &Visit,
    status: StatusCode,
    typed: Typed,
) -> PageResult<HttpResponse> {
    let (named, iid) = (visit.project(), number(visit, "iid")?);
    let asked = visit.long_page(NOTES_PER_PAGE);
    let preview = typed.comment.is_preview.then(|| typed.comment.text.clone());
    let (viewer, (project, mut shown, texts)) = visit
        .run(move |app, viewer| {
            let actor = viewer.actor();
            let project = project_page::get(app, actor, &named)?;
            let shown = page::show(app, actor, &named, iid, asked)?;
            let texts = RenderedTexts::new(
                app,
                actor,
                (&named, &project.path()),
                description(&shown.view.request),
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
    if shown.obstacle.is_none()
        && shown.view.request.state.is_open()
        && shown.view.request.merge_status == MergeStatus::Unchecked
    {
        shown.obstacle = find_conflict(visit, &viewer, &shown).await?;
    }
    let closes = find_closed(visit, &viewer, &shown).await?;
    let path = project.path();
    let closes = closes.iter().map(|view| Closed::new(view, &path)).collect();
    let page = build(visit, &viewer, &project, shown, texts, (typed, closes));
    Ok(render::page_with(status, visit, &viewer, &page))
}

/// Finds out whether the branches conflict. It takes long for large repositories.
async fn find_conflict(
    visit: &Visit,
    viewer: &Viewer,
    shown: &RequestPage,
) -> PageResult<Option<NotReady>> {
    let (app, actor) = (visit.shared_app(), viewer.actor());
    let (named, id) = (visit.project(), shown.view.request.id);
    let check = move || merge::check_status(&app, actor, &named, id);
    let status = visit.run_long(|limiter| &limiter.comparisons, viewer, check).await?;
    Ok((status == MergeStatus::Conflicting).then_some(NotReady::Conflicting))
}

/// Finds the issues that merging closes. The messages of all commits are read for that.
async fn find_closed(
    visit: &Visit,
    viewer: &Viewer,
    shown: &RequestPage,
) -> PageResult<Vec<IssueView>> {
    if !shown.view.request.state.is_open() || !shown.closes_issues {
        return Ok(vec![]);
    }
    let (app, actor, named) = (visit.shared_app(), viewer.actor(), visit.project());
    let (request, newest) = (shown.view.request.clone(), shown.newest.clone());
    let page = Page::Numbered { number: 1, size: MAX_CLOSED };
    let find =
        move || Ok(closing::list_of(&app, actor, &named, (&request, newest.as_ref()), page)?.items);
    visit.run_long(|limiter| &limiter.comparisons, viewer, find).await
}

fn merge_box(
    project: &ProjectPage,
    shown: &RequestPage,
    typed: Option<String>,
    faults: Faults,
    closes: Vec<Closed>,
) -> MergeBox {
    let request = &shown.view.request;
    let obstacle = shown.obstacle.map(|obstacle| match obstacle {
        NotReady::NotOpen => "This merge request is not open.",
        NotReady::WorkInProgress => {
            "This merge request is work in progress. Remove “WIP:” from its title to merge it."
        }
        NotReady::NoCommits => "A branch is missing, or there are no commits to merge.",
        NotReady::Conflicting => {
            "The branches conflict. This merge request can't be merged automatically."
        }
        NotReady::Pipeline => "The pipeline of the last commit must succeed before this is merged.",
        NotReady::Discussions => "All discussions must be resolved before this is merged.",
    });
    let (source, target) = (&request.ends.source_branch, &request.ends.target_branch);
    let is_conflicting = shown.obstacle == Some(NotReady::Conflicting);
    let commands = match is_conflicting {
        true => vec![
            "git fetch origin".to_owned(),
            format!("git checkout {}", source.as_str()),
            format!("git merge origin/{}", target.as_str()),
            format!("git push origin {}", source.as_str()),
        ],
        false => vec![],
    };
    // The pipelines of forks have rights of their own.
    let sees_pipeline = !request.ends.is_from_fork() && project.may_build(CiAbility::ReadPipelines);
    let pipeline = shown.pipeline.as_ref().filter(|_| sees_pipeline);
    MergeBox {
        is_open: request.state.is_open(),
        obstacle,
        is_conflicting,
        is_waiting: request.automatic_merge.is_some(),
        is_building: shown.is_building(),
        may_merge: shown.may_merge,
        pipeline: pipeline.map(|one| (one.id.0, one.status.as_str())),
        message: typed.unwrap_or_else(|| request.default_message()),
        head: request.head.map(|head| head.to_string()).unwrap_or_default(),
        faults,
        commands,
        closes,
    }
}

fn build(
    visit: &Visit,
    viewer: &Viewer,
    project: &ProjectPage,
    shown: RequestPage,
    texts: RenderedTexts,
    (typed, closes): (Typed, Vec<Closed>),
) -> ShowPage {
    let base = format!("/{}", project.path());
    let merge = merge_box(project, &shown, typed.message, typed.merge_faults, closes);
    let RequestPage { view, labels, discussion, participants, source_path, .. } = shown;
    let request = &view.request;
    let head = Head::new(&base, request, "Discussion", shown.may_update);
    let section = frame_of(project, "Merge requests");
    let frame = Frame::of_project(visit, viewer, &head.what(), section);
    let asked = visit.long_page(NOTES_PER_PAGE);
    let pager = Pager::of_page(visit, asked, discussion.notes.total);
    let RenderedTexts { description, notes, preview } = texts;
    let people = (viewer.actor().user(), request.author);
    let commits = |path: &str, name: &str| format!("/{path}/commits/{}", address::path(name));
    let (from, into) = (request.ends.source_branch.as_str(), request.ends.target_branch.as_str());
    let source_name = match (&source_path, request.ends.is_from_fork()) {
        (Some(path), true) => format!("{path}:{from}"),
        (None, true) => format!("(hidden project):{from}"),
        (_, false) => from.to_owned(),
    };
    ShowPage {
        author: Person::from(&view.author),
        at: frame.moment(request.created_at),
        source: Branch {
            name: source_name,
            address: source_path.as_deref().map(|path| commits(path, from)),
        },
        target: Branch { name: into.to_owned(), address: Some(commits(&project.path(), into)) },
        description,
        labels: LabelChip::all(&view.labels, &labels, &format!("{base}/merge_requests")),
        milestone: view.milestone.as_ref().map(|one| (one.title.as_str().to_owned(), one.id.0)),
        assignee: view.assignee.as_ref().map(Person::from),
        participants: participants.iter().map(Person::from).collect(),
        subscribed: view.subscribed,
        thread: Thread::new(&frame, &discussion, notes, pager, people),
        comment: CommentForm { text: typed.comment.text, faults: typed.comment.faults, preview },
        may_comment: project.may_track(TrackerAbility::SeeProject),
        may_update: shown.may_update,
        may_delete: shown.may_delete,
        merge,
        head,
        base,
        frame,
    }
}
