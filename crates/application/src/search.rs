//! Searches over everything that the actor may see: projects, issues, merge requests, milestones and people by name or
//! title, and the code and commits of one project.

pub mod code;

use hexforge_domain::group::GroupRef;
use hexforge_domain::id::{IssueId, MergeRequestId, MilestoneId, ProjectId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::user::AccountAbility;
use hexforge_domain::ports::store::Tx;
use hexforge_domain::project::query::{ListAudience, ProjectFilter, ProjectOrder, ProjectScope};
use hexforge_domain::project::{ProjectRef, ProjectWithNamespace};
use hexforge_domain::search::{SearchedKind, TitleSearch};
use hexforge_domain::unique::sorted_unique;
use hexforge_domain::user::{User, UserFilter};

use crate::access;
use crate::access::tracker;
use crate::app::App;
use crate::error::Error;
use crate::group::page::{self as group_page, GroupPage};
use crate::project::page::{self as project_page, ProjectPage};
use crate::view::project as project_view;

/// The maximum number of titles that one search finds.
pub const MAX_TITLES: u32 = 200;

/// What a search looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Projects, by name, path and description.
    Projects,
    /// Issues, by title.
    Issues,
    /// Merge requests, by title.
    MergeRequests,
    /// Milestones, by title.
    Milestones,
    /// Users, by name and username. Strangers do not find any.
    People,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 5] =
        [Self::Projects, Self::Issues, Self::MergeRequests, Self::Milestones, Self::People];
}

/// A request to search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The text.
    pub text: String,
    /// Only in this project.
    pub project: Option<ProjectRef>,
    /// Only projects of this group.
    pub group: Option<GroupRef>,
    /// The scope whose results are listed.
    pub scope: Scope,
    /// The page of the results.
    pub page: Page,
}

/// An issue, merge request or milestone that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TitleHit {
    /// The path of its project, with the namespace.
    pub project: String,
    /// The number in the project; for a milestone the id.
    pub number: i64,
    /// The title.
    pub title: String,
}

/// The results of one scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Results {
    /// Projects.
    Projects(Vec<ProjectWithNamespace>),
    /// Issues, merge requests or milestones.
    Titles(Vec<TitleHit>),
    /// Users.
    People(Vec<User>),
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The project that was searched.
    pub project: Option<ProjectPage>,
    /// The group that was searched.
    pub group: Option<GroupPage>,
    /// The number of results of each scope. Titles are counted up to [`MAX_TITLES`].
    pub totals: Vec<(Scope, u64)>,
    /// The results of the scope that was asked for.
    pub results: Results,
}

/// Searches all scopes, and lists the results of one. A search in a project has no projects and people, and one in a
/// group has projects only. Strangers find projects only, because they see no issues.
pub fn find(app: &App, actor: Actor, query: &Query) -> Result<Found, Error> {
    let project =
        query.project.as_ref().map(|named| project_page::get(app, actor, named)).transpose()?;
    let within = project.as_ref().map(|page| page.placed.project.id);
    let group = query.group.as_ref().map(|named| group_page::get(app, actor, named)).transpose()?;
    let in_group = group.as_ref().map(|page| page.group.id);
    let reads_people = access::require_account_ability(actor, AccountAbility::Read).is_ok();
    app.store.read(|tx| {
        let (mut totals, mut results) = (Vec::new(), None);
        for scope in Scope::ALL {
            let is_global = matches!(scope, Scope::Projects | Scope::People);
            let is_open = scope == Scope::Projects || actor != Actor::Anonymous;
            let is_possible = if within.is_some() {
                is_open && !is_global
            } else {
                is_open && (in_group.is_none() || scope == Scope::Projects)
            };
            if !is_possible || scope == Scope::People && !reads_people {
                continue;
            }
            let page = match scope == query.scope {
                true => query.page,
                // Only the number of results is shown.
                false => Page::Numbered { number: 1, size: 0 },
            };
            let (found, total) = match (scope, in_group) {
                (Scope::Projects, Some(group)) => {
                    let scope = ProjectScope::OfGroup {
                        group,
                        viewer: ListAudience::Viewer(access::page_viewer(actor)),
                    };
                    let found = projects_in(app, tx, scope, &query.text, page)?;
                    (Results::Projects(found.items), found.total)
                }
                _ => find_in(app, tx, actor, &query.text, (scope, within), page)?,
            };
            totals.push((scope, total));
            if scope == query.scope {
                results = Some(found);
            }
        }
        let results = results.unwrap_or(Results::Titles(vec![]));
        Ok(Found { project, group, totals, results })
    })
}

fn find_in(
    app: &App,
    tx: &mut dyn Tx,
    actor: Actor,
    text: &str,
    (scope, within): (Scope, Option<ProjectId>),
    page: Page,
) -> Result<(Results, u64), Error> {
    let kind = match scope {
        Scope::Projects => {
            let found = projects(app, tx, actor, text, page)?;
            return Ok((Results::Projects(found.items), found.total));
        }
        Scope::People => {
            let filter =
                UserFilter { search: Some(text.to_owned()), active: true, ..Default::default() };
            let found = tx.users().list(&filter, page)?;
            return Ok((Results::People(found.items), found.total));
        }
        Scope::Issues => SearchedKind::Issues,
        Scope::MergeRequests => SearchedKind::MergeRequests,
        Scope::Milestones => SearchedKind::Milestones,
    };
    let ids = tx.searches().by_title(&TitleSearch {
        kind,
        text: text.to_owned(),
        project: within,
        viewer: access::page_viewer(actor),
        clearance: tracker::clearance(actor),
        today: app.today(),
        limit: MAX_TITLES,
    })?;
    let shown = page.slice(ids);
    Ok((Results::Titles(load_titles(tx, kind, &shown.items)?), shown.total))
}

fn projects(
    app: &App,
    tx: &mut dyn Tx,
    actor: Actor,
    text: &str,
    page: Page,
) -> Result<Paged<ProjectWithNamespace>, Error> {
    projects_in(app, tx, ProjectScope::VisibleTo(access::page_viewer(actor)), text, page)
}

fn projects_in(
    app: &App,
    tx: &mut dyn Tx,
    scope: ProjectScope,
    text: &str,
    page: Page,
) -> Result<Paged<ProjectWithNamespace>, Error> {
    let filter = ProjectFilter {
        search: Some(text.to_owned()),
        order: ProjectOrder::LastActivityAt,
        ..ProjectFilter::newest_first(scope, app.today())
    };
    let found = tx.projects().list(&filter, page)?;
    Ok(project_view::page_with_namespaces(tx, found)?)
}

/// Loads what was found, newest first.
fn load_titles(tx: &mut dyn Tx, kind: SearchedKind, ids: &[i64]) -> Result<Vec<TitleHit>, Error> {
    let mut rows: Vec<(i64, ProjectId, i64, String)> = match kind {
        SearchedKind::Issues => {
            let ids: Vec<IssueId> = ids.iter().copied().map(IssueId).collect();
            let found = tx.issues().find_all(&ids)?.into_iter();
            let row = |issue: hexforge_domain::issue::Issue| {
                (issue.id.0, issue.project, issue.iid, issue.title.as_str().to_owned())
            };
            found.map(row).collect()
        }
        SearchedKind::MergeRequests => {
            let ids: Vec<MergeRequestId> = ids.iter().copied().map(MergeRequestId).collect();
            let found = tx.merge_requests().find_all(&ids)?.into_iter();
            let row = |request: hexforge_domain::merge_request::MergeRequest| {
                let title = request.title.as_str().to_owned();
                (request.id.0, request.ends.target_project, request.iid, title)
            };
            found.map(row).collect()
        }
        SearchedKind::Milestones => {
            let ids: Vec<MilestoneId> = ids.iter().copied().map(MilestoneId).collect();
            let found = tx.milestones().find_all(&ids)?.into_iter();
            let row = |milestone: hexforge_domain::milestone::Milestone| {
                let title = milestone.title.as_str().to_owned();
                (milestone.id.0, milestone.project, milestone.id.0, title)
            };
            found.map(row).collect()
        }
    };
    rows.sort_unstable_by_key(|row| std::cmp::Reverse(row.0));
    let projects = sorted_unique(rows.iter().map(|(_, project, ..)| *project));
    let projects = tx.projects().find_all(&projects)?;
    let projects =
        project_view::page_with_namespaces(tx, Paged { items: projects, total: 0 })?.items;
    let hit = |(_, project, number, title)| {
        let placed = projects.iter().find(|placed| placed.project.id == project)?;
        Some(TitleHit { project: placed.place.path_of(&placed.project), number, title })
    };
    Ok(rows.into_iter().filter_map(hit).collect())
}

/// Suggests projects for the beginning of a search.
pub fn suggest(
    app: &App,
    actor: Actor,
    text: &str,
    limit: u64,
) -> Result<Vec<ProjectWithNamespace>, Error> {
    let page = Page::Numbered { number: 1, size: limit };
    app.store.read(|tx| Ok(projects(app, tx, actor, text, page)?.items))
}
