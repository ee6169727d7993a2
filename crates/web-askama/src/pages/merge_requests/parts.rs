//! The commits and pipelines of a merge request.

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::error::Error;
use hexforge_application::merge_request::page as request_page;
use hexforge_application::merge_request::version::{self, OpenVersion};
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_application::view::merge_request::MergeRequestView;
use hexforge_domain::pipeline::Pipeline;
use hexforge_domain::policy::ci::CiAbility;

use super::show::Head;
use crate::error::PageResult;
use crate::frame::Frame;
use crate::pages::project::{CommitLine, frame_of, other_spelling, statuses};
use crate::pages::tracker::number;
use crate::render;
use crate::visit::{Viewer, Visit};

/// The commits on a page.
const MAX_COMMITS: usize = 200;

#[derive(Template)]
#[template(path = "merge_request_commits.html")]
struct CommitsPage {
    frame: Frame,
    head: Head,
    base: String,
    commits: Vec<CommitLine>,
    shown_of_more: Option<usize>,
}

/// A merge request whose commits and changes are read.
pub(super) struct Opened {
    pub(super) project: ProjectPage,
    pub(super) view: MergeRequestView,
    pub(super) version: OpenVersion,
}

pub(super) async fn open(visit: &Visit) -> PageResult<(Viewer, Opened)> {
    let (named, iid) = (visit.project(), number(visit, "iid")?);
    visit
        .run(move |app, viewer| {
            let actor = viewer.actor();
            let project = project_page::get(app, actor, &named)?;
            let id = request_page::find_id(app, actor, &named, iid)?;
            let (view, version) = version::open_newest(app, actor, &named, id)?;
            Ok(Opened { project, view, version })
        })
        .await
}

pub(super) async fn commits(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, Opened { project, view, version }) = open(&visit).await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let (app, of_project) = (visit.shared_app(), project.clone());
    // The pipelines of forks have rights of their own.
    let is_from_fork = view.request.ends.is_from_fork();
    let read = move || {
        let commits = version.commits()?;
        let shown = commits.iter().take(if is_from_fork { 0 } else { MAX_COMMITS });
        let statuses = statuses(&app, &of_project, shown)?;
        Ok::<_, Error>((commits, statuses))
    };
    let (commits, statuses) = visit.run_long(|limiter| &limiter.comparisons, &viewer, read).await?;
    let base = format!("/{}", project.path());
    let head = Head::new(&base, &view.request, "Commits", false);
    let section = frame_of(&project, "Merge requests");
    let frame = Frame::of_project(&visit, &viewer, &head.what(), section);
    let shown = commits.iter().take(MAX_COMMITS);
    let page = CommitsPage {
        commits: shown.map(|commit| CommitLine::with_status(commit, &frame, &statuses)).collect(),
        shown_of_more: (commits.len() > MAX_COMMITS).then_some(MAX_COMMITS),
        head,
        base,
        frame,
    };
    render::page(&visit, &viewer, &page)
}

#[derive(Template)]
#[template(path = "merge_request_pipelines.html")]
struct PipelinesPage {
    frame: Frame,
    head: Head,
    base: String,
    pipelines: Vec<Row>,
}

struct Row {
    id: i64,
    status: &'static str,
    short: String,
    sha: String,
}

impl From<&Pipeline> for Row {
    fn from(pipeline: &Pipeline) -> Self {
        let sha = pipeline.sha.to_string();
        let short = sha.chars().take(8).collect();
        Self { id: pipeline.id.0, status: pipeline.status.as_str(), short, sha }
    }
}

pub(super) async fn pipelines(visit: Visit) -> PageResult<HttpResponse> {
    let (named, iid) = (visit.project(), number(&visit, "iid")?);
    let (viewer, (project, view, pipelines)) = visit
        .run(move |app, viewer| {
            let actor = viewer.actor();
            let project = project_page::get(app, actor, &named)?;
            let (view, pipelines) = request_page::pipelines(app, actor, &named, iid)?;
            Ok((project, view, pipelines))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let base = format!("/{}", project.path());
    let head = Head::new(&base, &view.request, "Pipelines", false);
    let section = frame_of(&project, "Merge requests");
    let frame = Frame::of_project(&visit, &viewer, &head.what(), section);
    // The pipelines of forks have rights of their own.
    let is_seen = !view.request.ends.is_from_fork() && project.may_build(CiAbility::ReadPipelines);
    let pipelines = pipelines.iter().filter(|_| is_seen).map(Row::from).collect();
    render::page(&visit, &viewer, &PipelinesPage { frame, head, base, pipelines })
}

/// An old address.
pub(super) async fn builds(visit: Visit) -> PageResult<HttpResponse> {
    let (_, Opened { project, view, .. }) = open(&visit).await?;
    let iid = view.request.iid;
    render::moved(&format!("/{}/merge_requests/{iid}/pipelines", project.path()))
}
