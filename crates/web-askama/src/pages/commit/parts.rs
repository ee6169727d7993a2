//! Pages about a commit: the branches and tags that have it, and its builds.

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::build;
use hexforge_application::error::Error;
use hexforge_application::repository::browse::{self, ContainingRefs};
use hexforge_application::repository::{CommitRef, commits};
use hexforge_application::view::build::BuildView;
use hexforge_domain::policy::ci::CiAbility;

use super::{Found, Named, RefLink, find, ref_links};
use crate::error::PageResult;
use crate::frame::{Frame, Pager};
use crate::moment::Moment;
use crate::pages::project::{CommitLine, frame_of, other_spelling};
use crate::render;
use crate::visit::Visit;

/// The branches and the tags that are listed.
const LISTED: usize = 1_000;

#[derive(Template)]
#[template(path = "commit_refs.html")]
struct RefsPage {
    frame: Frame,
    commit: String,
    title: String,
    branches: Vec<RefLink>,
    tags: Vec<RefLink>,
    is_unknown: bool,
    is_cut: bool,
}

/// The branches and tags that have the commit.
pub(super) async fn branches(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, Found { project, at, .. }) = find(&visit).await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let read = move || Ok::<_, Error>((commits::one(&at)?, browse::refs_containing(&at)?));
    let (commit, refs) = visit.run_shared(|limiter| &limiter.comparisons, &viewer, read).await?;
    let what = "Branches and tags";
    let frame = Frame::of_project(&visit, &viewer, what, frame_of(&project, "Commits"));
    let line = CommitLine::new(&commit, &frame);
    let base = format!("/{}", project.path());
    let is_unknown = refs.is_none();
    let ContainingRefs { branches, tags, is_cut } = refs.unwrap_or_default();
    let page = RefsPage {
        commit: format!("{base}/commit/{}", line.id),
        title: line.title,
        branches: ref_links(&base, "commits", branches, LISTED),
        tags: ref_links(&base, "tags", tags, LISTED),
        is_unknown,
        is_cut,
        frame,
    };
    render::page(&visit, &viewer, &page)
}

/// A build of the commit.
struct Row {
    id: i64,
    pipeline: i64,
    status: &'static str,
    stage: String,
    name: String,
    at: Moment,
}

impl Row {
    fn new(view: &BuildView, frame: &Frame) -> Self {
        let build = &view.build;
        Self {
            id: build.id.0,
            pipeline: view.pipeline.id.0,
            status: build.status.as_str(),
            stage: build.stage.clone(),
            name: build.name.clone(),
            at: frame.moment(build.finished_at.unwrap_or(build.created_at)),
        }
    }
}

#[derive(Template)]
#[template(path = "commit_builds.html")]
struct BuildsPage {
    frame: Frame,
    base: String,
    commit: String,
    title: String,
    rows: Vec<Row>,
    pager: Pager,
}

/// The builds of the commit, for those who may read builds.
pub(super) async fn builds(visit: Visit) -> PageResult<HttpResponse> {
    let (named, page) = (Named::of(&visit), visit.page());
    let (viewer, (found, commit, builds)) = visit
        .run(move |app, viewer| {
            let found = Found::read(app, viewer.actor(), &named)?;
            if !found.project.may_build(CiAbility::ReadBuilds) {
                return Err(Error::Forbidden(None));
            }
            let id = found.at.commit().to_string();
            let one = CommitRef { project: &named.project, revision: &id };
            let builds = build::list_of_commit(app, viewer.actor(), one, None, page)?;
            let commit = commits::one(&found.at)?;
            Ok((found, commit, builds))
        })
        .await?;
    let project = found.project;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let frame = Frame::of_project(&visit, &viewer, "Builds", frame_of(&project, "Builds"));
    let line = CommitLine::new(&commit, &frame);
    let base = format!("/{}", project.path());
    let page = BuildsPage {
        commit: format!("{base}/commit/{}", line.id),
        title: line.title,
        rows: builds.items.iter().map(|view| Row::new(view, &frame)).collect(),
        pager: Pager::new(&visit, builds.total),
        base,
        frame,
    };
    render::page(&visit, &viewer, &page)
}
