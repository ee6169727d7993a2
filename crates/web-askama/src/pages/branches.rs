//! The branches of a project.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::branch::{self, BranchView};
use hexforge_application::error::{Error, Refusal};
use hexforge_application::limiter::Limiter;
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_application::repository::{self, Revision, browse};
use hexforge_domain::limiter::PermitPool;
use hexforge_domain::paging::Paged;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::repository::Divergence;

use super::project::{CommitLine, frame_of, other_spelling};
use super::pushing::{self, Pushable};
use crate::address;
use crate::cookies::Notice;
use crate::error::{PageError, PageResult};
use crate::faults::Faults;
use crate::frame::{Frame, Pager};
use crate::moment::count;
use crate::render;
use crate::table::Pages;
use crate::visible;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/branches", list);
    pages.get("/{namespace}/{project}/branches/new", new);
    pages.post("/{namespace}/{project}/branches", create);
    pages.post("/{namespace}/{project}/branches/delete", delete);
    pages.post("/{namespace}/{project}/branches/delete_merged", delete_merged);
}

struct Row {
    name: String,
    /// The name as readers see it.
    shown: String,
    tree: String,
    compare: String,
    is_default: bool,
    is_protected: bool,
    is_merged: bool,
    /// `2 commits ahead, 1 commit behind`.
    distance: Option<String>,
    may_delete: bool,
    commit: CommitLine,
}

#[derive(Template)]
#[template(path = "branches.html")]
struct Branches {
    frame: Frame,
    base: String,
    search: String,
    rows: Vec<Row>,
    total: u64,
    pager: Pager,
    may_push: bool,
}

/// What the list reads from the database and the refs.
struct Found {
    project: ProjectPage,
    branches: Paged<BranchView>,
    default: Option<Revision>,
}

async fn list(visit: Visit) -> PageResult<HttpResponse> {
    let (named, client, page) = (visit.project(), visit.address(), visit.page());
    let search = visit.search("search").unwrap_or_default();
    let text = search.clone();
    let (viewer, found) = visit
        .run(move |app, viewer| {
            let actor = viewer.actor();
            let project = project_page::get(app, actor, &named)?;
            let branches = match text.as_str() {
                "" => branch::list(app, actor, &named, page)?,
                text => branch::search(app, actor, &named, text, page)?,
            };
            let readable = repository::readable(app, actor, client, &named)?;
            let default = repository::revision_or_default(app, &readable, None)?;
            Ok(Found { project, branches, default })
        })
        .await?;
    let Found { project, branches, default } = found;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let tips: Vec<_> = branches.items.iter().map(|one| one.branch.commit.id).collect();
    let measure = move || match default {
        Some(default) => browse::divergences(&default, &tips),
        None => Ok(vec![]),
    };
    let distances = visit.run_shared(comparisons, &viewer, measure).await?;
    let frame = Frame::of_project(&visit, &viewer, "Branches", frame_of(&project, "Branches"));
    let total = branches.total;
    let page = Branches {
        base: format!("/{}", project.path()),
        rows: rows(&project, branches.items, distances, &frame),
        search,
        total,
        pager: Pager::new(&visit, total),
        may_push: project.may(ProjectAbility::PushCode),
        frame,
    };
    render::page(&visit, &viewer, &page)
}

fn comparisons(limiter: &Limiter) -> &PermitPool {
    &limiter.comparisons
}

fn rows(
    project: &ProjectPage,
    branches: Vec<BranchView>,
    distances: Vec<Option<Divergence>>,
    frame: &Frame,
) -> Vec<Row> {
    let base = format!("/{}", project.path());
    let default = project.placed.project.default_branch.as_ref();
    let default = default.map_or("", |name| name.as_str());
    let may_push = project.may(ProjectAbility::PushCode);
    let row = |(view, distance): (BranchView, Option<Divergence>)| {
        let name = view.branch.name.as_str().to_owned();
        let (is_default, is_protected) = (name == default, view.protection.protected);
        let between = address::path(format!("{default}...{name}"));
        Row {
            shown: visible::name(&name),
            tree: format!("{base}/tree/{}", address::path(&name)),
            compare: format!("{base}/compare/{between}"),
            is_default,
            is_protected,
            is_merged: !is_default && distance.is_some_and(|distance| distance.ahead == 0),
            distance: distance.filter(|_| !is_default).map(in_words),
            may_delete: may_push && !is_default && !is_protected,
            commit: CommitLine::new(&view.branch.commit, frame),
            name,
        }
    };
    let distances = distances.into_iter().chain(std::iter::repeat(None));
    branches.into_iter().zip(distances).map(row).collect()
}

fn in_words(Divergence { ahead, behind }: Divergence) -> String {
    format!("{} ahead, {} behind", count(ahead, "commit"), count(behind, "commit"))
}

#[derive(Template)]
#[template(path = "branch_new.html")]
struct NewBranch {
    frame: Frame,
    base: String,
    branch: String,
    from: String,
    names: Vec<String>,
    faults: Faults,
}

async fn new(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, pushable) = pushing::find(&visit).await?;
    if let Some(redirect) = other_spelling(&visit, &pushable.project) {
        return Ok(redirect);
    }
    let from = visit.query("ref").map_or_else(|| pushable.default_branch(), str::to_owned);
    let fields = (visit.query("branch_name").unwrap_or_default().to_owned(), from);
    Ok(show_form(&visit, &viewer, pushable, fields, Faults::default()))
}

fn show_form(
    visit: &Visit,
    viewer: &Viewer,
    pushable: Pushable,
    (branch, from): (String, String),
    faults: Faults,
) -> HttpResponse {
    let status = match faults.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::UNPROCESSABLE_ENTITY,
    };
    let frame_of_project = frame_of(&pushable.project, "Branches");
    let page = NewBranch {
        frame: Frame::of_project(visit, viewer, "New branch", frame_of_project),
        base: pushable.base(),
        names: pushable.names,
        branch,
        from,
        faults,
    };
    render::page_with(status, visit, viewer, &page)
}

async fn create(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, pushable) = pushing::find(&visit).await?;
    let form = visit.form();
    let fields = (form.text("branch_name").to_owned(), form.text("ref").to_owned());
    let (named, (name, from)) = (visit.project(), fields.clone());
    let (_, created) = visit
        .run_signed_in(move |app, signed_in| {
            match branch::create(app, signed_in.actor, &named, &name, &from) {
                Ok(_) => Ok(Ok(())),
                Err(error) => faults(error).map(Err),
            }
        })
        .await?;
    match created {
        Ok(()) => {
            let address = format!("{}/tree/{}", pushable.base(), address::path(&fields.0));
            Ok(render::see_other_with(&visit, &address, Notice::Created))
        }
        Err(faults) => Ok(show_form(&visit, &viewer, pushable, fields, faults)),
    }
}

fn faults(error: Error) -> Result<Faults, Error> {
    match error {
        Error::Refused(Refusal::BranchName) => Ok(Faults::of_field("branch_name", "is not valid")),
        Error::Refused(Refusal::BranchExists) => {
            Ok(Faults::of_field("branch_name", "exists already"))
        }
        Error::Refused(Refusal::BranchMoved(_)) => {
            Ok(Faults::of_field("branch_name", "is a folder of other branches"))
        }
        Error::Refused(Refusal::BranchStart) => Ok(Faults::of_field("ref", "does not exist")),
        error => Faults::of(error),
    }
}

async fn delete(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, pushable) = pushing::find(&visit).await?;
    let (named, name) = (visit.project(), visit.form().text("name").to_owned());
    let (_, deleted) = visit
        .run_signed_in(move |app, signed_in| branch::delete(app, signed_in.actor, &named, &name))
        .await?;
    match deleted {
        Ok(()) => {
            let address = format!("{}/branches", pushable.base());
            Ok(render::see_other_with(&visit, &address, Notice::Removed))
        }
        Err(_) => Err(PageError::of(Error::Forbidden(None), viewer, true)),
    }
}

/// Schedules the deletion of all merged branches.
async fn delete_merged(visit: Visit) -> PageResult<HttpResponse> {
    let (_, pushable) = pushing::find(&visit).await?;
    let named = visit.project();
    visit
        .run_signed_in(move |app, signed_in| branch::merged::request(app, signed_in.actor, &named))
        .await?;
    let address = format!("{}/branches", pushable.base());
    Ok(render::see_other_with(&visit, &address, Notice::Scheduled))
}
