//! The comparison of two revisions.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_application::repository::ref_path::{self, Located};
use hexforge_application::repository::{self, Readable, Revision, browse};
use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::policy::merge_request::RequestsAbility;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_http_edge::conditional::ETag;

use super::conditions::{self, Conditions};
use super::history::shows_pipelines;
use super::project::{self, CommitLine, Statuses, frame_of, missing, other_spelling};
use crate::address;
use crate::diff::{DiffHtml, DiffOptions, DiffView};
use crate::error::PageResult;
use crate::frame::Frame;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/compare", choose);
    pages.get("/{namespace}/{project}/compare/{rest...}", show);
}

/// The commits that are listed, the newest ones.
const MAX_COMMITS: usize = 100;

#[derive(Template)]
#[template(path = "compare.html")]
struct ComparePage {
    frame: Frame,
    base: String,
    from: String,
    to: String,
    /// Names that the fields suggest.
    names: Vec<String>,
    /// What is wrong with the revisions.
    alert: Option<String>,
    result: Option<Shown>,
}

/// A comparison as it is shown.
#[derive(Default)]
struct Shown {
    commits: Vec<CommitLine>,
    more_commits: usize,
    diff: Option<DiffHtml>,
    /// The form for a merge request of the branches.
    create: Option<String>,
    note: Option<&'static str>,
}

/// Which revisions an address names: `from...to` compares since the merge base, `from..to` the files themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Range {
    from: String,
    to: String,
    since_merge_base: bool,
}

impl Range {
    fn parse(text: &str) -> Option<Self> {
        let (from, to, since_merge_base) = match (text.split_once("..."), text.split_once("..")) {
            (Some((from, to)), _) => (from, to, true),
            (None, Some((from, to))) => (from, to, false),
            (None, None) => return None,
        };
        let (from, to) = (from.trim_matches('/').to_owned(), to.trim_matches('/').to_owned());
        (!from.is_empty() && !to.is_empty()).then_some(Self { from, to, since_merge_base })
    }
}

/// The form. With both revisions in its query, it leads to their comparison.
async fn choose(visit: Visit) -> PageResult<HttpResponse> {
    let (named, client) = (visit.project(), visit.address());
    let (viewer, (project, names)) = visit
        .run(move |app, viewer| {
            let project = project_page::get(app, viewer.actor(), &named)?;
            let readable = repository::readable(app, viewer.actor(), client, &named)?;
            let at = repository::revision_or_default(app, &readable, None)?;
            Ok((project, at.as_ref().map(repository::branch_names).unwrap_or_default()))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let given = |name| visit.query(name).unwrap_or_default().to_owned();
    let (from, to) = (given("from"), given("to"));
    let base = format!("/{}", project.path());
    if !from.is_empty() && !to.is_empty() {
        let range = address::path(format!("{from}...{to}"));
        return Ok(render::see_other(&format!("{base}/compare/{range}")).finish());
    }
    let default = project.placed.project.default_branch.as_ref();
    let default = default.map_or("", |name| name.as_str()).to_owned();
    let from = if from.is_empty() { default } else { from };
    let frame = Frame::of_project(&visit, &viewer, "Compare", frame_of(&project, "Commits"));
    let page = ComparePage { frame, base, from, to, names, alert: None, result: None };
    render::page(&visit, &viewer, &page)
}

/// What a comparison needs.
struct Found {
    project: ProjectPage,
    from: Option<Revision>,
    to: Option<Revision>,
    names: Vec<String>,
}

impl Found {
    fn ends(&self) -> Option<[ObjectId; 2]> {
        Some([self.from.as_ref()?.commit(), self.to.as_ref()?.commit()])
    }
}

/// The tag of a comparison of two commits. The page also shows the names of branches, and states of pipelines.
fn tag_of(
    conditions: &Conditions,
    (app, viewer): (&App, &Viewer),
    (project, range, names): (&ProjectPage, &Range, &[String]),
    [from, to]: [ObjectId; 2],
    states: &str,
) -> Option<ETag> {
    let ends = [(range.from.as_str(), from), (range.to.as_str(), to)];
    let others = format!("{}\n{states}", names.join("\n"));
    conditions.tag_of_two(app, viewer, project, ends, others.as_bytes())
}

async fn show(visit: Visit) -> PageResult<HttpResponse> {
    let (named, client) = (visit.project(), visit.address());
    let range = Range::parse(&visit.param("rest"));
    let wanted = range.clone();
    let conditions = Conditions::of(&visit);
    let known = conditions.clone();
    let (viewer, (found, is_known)) = visit
        .run(move |app, viewer| {
            let project = project_page::get(app, viewer.actor(), &named)?;
            let readable = repository::readable(app, viewer.actor(), client, &named)?;
            let range = wanted.as_ref().ok_or_else(missing)?;
            let from = revision(app, &readable, &range.from)?;
            let to = revision(app, &readable, &range.to)?;
            let at = from.as_ref().or(to.as_ref());
            let names = at.map(repository::branch_names).unwrap_or_default();
            let found = Found { project, from, to, names };
            let tag = match shows_pipelines(&found.project) {
                true => None,
                false => found.ends().and_then(|ends| {
                    let shown = (&found.project, range, found.names.as_slice());
                    tag_of(&known, (app, viewer), shown, ends, "")
                }),
            };
            let is_known = known.has(tag.as_ref());
            Ok((found, is_known.then_some(tag)))
        })
        .await?;
    if let Some(tag) = is_known {
        return Ok(conditions::unchanged(tag));
    }
    if let Some(redirect) = other_spelling(&visit, &found.project) {
        return Ok(redirect);
    }
    let Some(range) = range else { return Err(visit.not_found().await) };
    show_range(&visit, &viewer, found, range, &conditions).await
}

/// Finds a revision. A branch wins over a tag of the same name.
fn revision(app: &App, readable: &Readable, name: &str) -> Result<Option<Revision>, Error> {
    let found = ref_path::locate(app, readable, name)?;
    Ok(found.and_then(|Located { at, path, .. }| path.is_empty().then_some(at)))
}

async fn show_range(
    visit: &Visit,
    viewer: &Viewer,
    found: Found,
    range: Range,
    conditions: &Conditions,
) -> PageResult<HttpResponse> {
    let ends = found.ends();
    let Found { project, from, to, names } = found;
    let base = format!("/{}", project.path());
    let missing = [(&from, &range.from), (&to, &range.to)];
    let missing = missing.into_iter().filter(|(at, _)| at.is_none());
    let missing: Vec<String> = missing.map(|(_, name)| format!("“{name}”")).collect();
    let alert = (!missing.is_empty())
        .then(|| format!("There is no branch, tag or commit {}.", missing.join(" and ")));
    let create = create_address(&project, &base, &range, from.as_ref(), to.as_ref());
    let what = format!("Compare {}...{}", range.from, range.to);
    let frame = Frame::of_project(visit, viewer, &what, frame_of(&project, "Commits"));
    let result = match (from, to) {
        (Some(from), Some(to)) => {
            let options = DiffOptions::of(visit).with_files_at(&base, to.commit());
            let since_merge_base = range.since_merge_base;
            let (app, of_project) = (visit.shared_app(), project.clone());
            let work = move || {
                let options =
                    options.with_content(|path, max| repository::head_at(&to, path, max))?;
                let compared = compare(&from, &to, since_merge_base, &options)?;
                let statuses = project::statuses(&app, &of_project, &compared.commits)?;
                Ok::<_, Error>((compared, statuses))
            };
            let (compared, statuses) =
                visit.run_costly(|limiter| &limiter.comparisons, viewer, work).await?;
            let states = compared.commits.iter().map(|commit| statuses.get(&commit.id));
            let states = match shows_pipelines(&project) {
                true => format!("{:?}", states.collect::<Vec<_>>()),
                false => String::new(),
            };
            let shown = (&project, &range, names.as_slice());
            let tag = ends
                .and_then(|ends| tag_of(conditions, (visit.app(), viewer), shown, ends, &states));
            if conditions.has(tag.as_ref()) {
                return Ok(conditions::unchanged(tag));
            }
            Some((compared.shown(&frame, create, &statuses), tag))
        }
        _ => None,
    };
    let (result, tag) = result.unzip();
    let status = if result.is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND };
    let Range { from, to, .. } = range;
    let page = ComparePage { frame, base, from, to, names, alert, result };
    Ok(conditions::tagged(render::page_with(status, visit, viewer, &page), tag.flatten()))
}

/// The address of the form for a merge request, if both revisions are branches and the visitor may create one.
fn create_address(
    project: &ProjectPage,
    base: &str,
    range: &Range,
    from: Option<&Revision>,
    to: Option<&Revision>,
) -> Option<String> {
    let is_branch = |at: &Revision, name: &str| repository::has_branch(at, name);
    let may_create = project.may_request(RequestsAbility::CreateFrom)
        && project.may(ProjectAbility::DownloadCode)
        && is_branch(from?, &range.from)
        && is_branch(to?, &range.to);
    let query = address::query([
        ("merge_request[source_branch]", range.to.as_str()),
        ("merge_request[target_branch]", range.from.as_str()),
    ]);
    may_create.then(|| format!("{base}/merge_requests/new?{query}"))
}

/// A comparison, before it is shown to a visitor.
struct Compared {
    commits: Vec<Commit>,
    more_commits: usize,
    diff: Option<DiffHtml>,
    are_related: bool,
}

fn compare(
    from: &Revision,
    to: &Revision,
    since_merge_base: bool,
    options: &DiffOptions,
) -> Result<Compared, Error> {
    let compared = repository::compare(Some(from), Some(to))?.comparison;
    let changes = match since_merge_base {
        true => Arc::clone(&compared),
        false => browse::changes_between(from, to)?,
    };
    let more_commits = compared.commits.len().saturating_sub(MAX_COMMITS);
    let newest = compared.commits[more_commits..].iter().rev().cloned();
    let diff = match changes.diffs.is_empty() {
        true => None,
        false => Some(DiffView::of_comparison(&changes, options).to_html()?),
    };
    let are_related = browse::are_related(from, to)?;
    Ok(Compared { commits: newest.collect(), more_commits, diff, are_related })
}

impl Compared {
    fn shown(self, frame: &Frame, create: Option<String>, statuses: &Statuses) -> Shown {
        let line = |commit| CommitLine::with_status(commit, frame, statuses);
        let is_empty = self.commits.is_empty() && self.diff.is_none();
        Shown {
            commits: self.commits.iter().map(line).collect(),
            more_commits: self.more_commits,
            create: create.filter(|_| !self.commits.is_empty()),
            diff: self.diff,
            note: match (is_empty, self.are_related) {
                (true, _) => Some("There isn't anything to compare."),
                (false, false) => Some("The two histories have no commit in common."),
                (false, true) => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_two_or_three_dots() {
        let range = |from: &str, to: &str, since_merge_base| {
            Some(Range { from: from.to_owned(), to: to.to_owned(), since_merge_base })
        };
        for (text, expected) in [
            ("a...b", range("a", "b", true)),
            ("a..b", range("a", "b", false)),
            ("topic/one...v1.0", range("topic/one", "v1.0", true)),
            ("a", None),
            ("a...", None),
            ("...b", None),
        ] {
            assert_eq!(Range::parse(text), expected, "{text}");
        }
    }
}
