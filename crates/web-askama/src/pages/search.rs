//! The search over everything that the visitor may see.

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use askama::Template;
use hexforge_application::error::Error;
use hexforge_application::project::page::ProjectPage;
use hexforge_application::repository;
use hexforge_application::search::code::{self, CodeHit, Hits};
use hexforge_application::search::{self, Found, MAX_TITLES, Query, Results, Scope, TitleHit};
use hexforge_domain::commit::Commit;
use hexforge_domain::group::GroupRef;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::project::{ProjectRef, ProjectWithNamespace};
use serde_json::json;

use super::explore::Row;
use super::project::{CommitLine, frame_of};
use crate::address;
use crate::error::PageResult;
use crate::frame::{Frame, Pager};
use crate::render;
use crate::table::Pages;
use crate::visible;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/search", show);
    pages.get("/search/autocomplete", autocomplete);
}

/// The number of suggestions.
const SUGGESTIONS: u64 = 10;

/// What is listed: a scope with a total, or the code or commits of a project, which are searched only if asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Listed {
    Counted(Scope),
    Code,
    Commits,
}

impl Listed {
    const ALL: [Self; 7] = [
        Self::Counted(Scope::Projects),
        Self::Counted(Scope::Issues),
        Self::Counted(Scope::MergeRequests),
        Self::Counted(Scope::Milestones),
        Self::Counted(Scope::People),
        Self::Code,
        Self::Commits,
    ];

    /// The name in the query, and the name that visitors see.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Counted(Scope::Projects) => ("projects", "Projects"),
            Self::Counted(Scope::Issues) => ("issues", "Issues"),
            Self::Counted(Scope::MergeRequests) => ("merge_requests", "Merge requests"),
            Self::Counted(Scope::Milestones) => ("milestones", "Milestones"),
            Self::Counted(Scope::People) => ("users", "People"),
            Self::Code => ("blobs", "Code"),
            Self::Commits => ("commits", "Commits"),
        }
    }

    fn parse(text: Option<&str>) -> Option<Self> {
        let text = text?;
        Self::ALL.into_iter().find(|listed| listed.names().0 == text)
    }
}

/// A link of the navigation.
struct Tab {
    text: String,
    address: String,
    is_current: bool,
}

/// A result that is a title with an address.
struct Hit {
    address: String,
    title: String,
    detail: String,
}

enum Shown {
    Projects(Vec<Row>),
    Hits(Vec<Hit>),
    Commits(String, Vec<CommitLine>),
}

#[derive(Template)]
#[template(path = "search.html")]
struct SearchPage {
    frame: Frame,
    text: String,
    /// The name of the parameter, the value, and the path of what is searched.
    within: Option<(&'static str, String, String)>,
    tabs: Vec<Tab>,
    shown: Shown,
    is_empty: bool,
    note: Option<String>,
    pager: Option<Pager>,
}

fn text_of(visit: &Visit) -> String {
    visit.search("search").unwrap_or_default()
}

async fn show(visit: Visit) -> PageResult<HttpResponse> {
    let text = text_of(&visit);
    let project = visit.query("project_id").map(ProjectRef::parse);
    let first = match project {
        Some(_) => Listed::Counted(Scope::Issues),
        None => Listed::Counted(Scope::Projects),
    };
    let listed = match visit.query("group_id") {
        Some(_) if project.is_none() => first,
        _ => Listed::parse(visit.query("scope")).unwrap_or(first),
    };
    let scope = match (listed, &project) {
        (Listed::Counted(Scope::Projects | Scope::People), Some(_)) => Scope::Issues,
        (Listed::Counted(scope), _) => scope,
        (Listed::Code | Listed::Commits, _) => Scope::Issues,
    };
    if text.is_empty() {
        let (viewer, ()) = visit.run(|_, _| Ok(())).await?;
        return show_empty(&visit, &viewer);
    }
    let query = Query {
        text: text.clone(),
        project: project.clone(),
        group: visit.query("group_id").filter(|_| project.is_none()).map(GroupRef::new),
        scope,
        page: visit.page(),
    };
    let is_scope_chosen = visit.query("scope").is_some();
    let (viewer, (scope, found)) = visit
        .run(move |app, viewer| {
            let found = search::find(app, viewer.actor(), &query)?;
            let other = found.totals.iter().find(|(_, total)| *total > 0);
            match other {
                // Without a choice, the first scope with results is listed.
                Some((other, _)) if !is_scope_chosen && total_of(&found, query.scope) == 0 => {
                    let query = Query { scope: *other, ..query.clone() };
                    Ok((query.scope, search::find(app, viewer.actor(), &query)?))
                }
                _ => Ok((query.scope, found)),
            }
        })
        .await?;
    let searches_code = |page: &ProjectPage| page.may(ProjectAbility::DownloadCode);
    let in_code = found.project.as_ref().is_some_and(searches_code);
    match (listed, project) {
        (Listed::Code, Some(project)) if in_code => {
            let hits = search_code(&visit, &viewer, project, text, code::find_lines).await?;
            show_code(&visit, &viewer, found, hits)
        }
        (Listed::Commits, Some(project)) if in_code => {
            let hits = search_code(&visit, &viewer, project, text, code::find_commits).await?;
            show_commits(&visit, &viewer, found, hits)
        }
        _ => show_found(&visit, &viewer, found, scope),
    }
}

fn show_empty(visit: &Visit, viewer: &Viewer) -> PageResult<HttpResponse> {
    let page = SearchPage {
        frame: Frame::new(visit, viewer, "Search"),
        text: String::new(),
        within: None,
        tabs: vec![],
        shown: Shown::Hits(vec![]),
        is_empty: false,
        note: None,
        pager: None,
    };
    render::page(visit, viewer, &page)
}

/// Searches the default branch of a project. That is costly, so strangers share few permits for it.
async fn search_code<T: Send + 'static>(
    visit: &Visit,
    viewer: &Viewer,
    project: ProjectRef,
    text: String,
    find: fn(&repository::Revision, &str) -> Result<Hits<T>, Error>,
) -> PageResult<Hits<T>> {
    let (app, actor, client) = (visit.shared_app(), viewer.actor(), visit.address());
    let work = move || {
        let readable = repository::readable(&app, actor, client, &project)?;
        match repository::revision_or_default(&app, &readable, None)? {
            Some(at) => find(&at, &text),
            None => Ok(Hits { items: vec![], is_complete: true }),
        }
    };
    visit.run_costly(|limiter| &limiter.comparisons, viewer, work).await
}

/// The parts of the page that all scopes have.
fn page_of(visit: &Visit, viewer: &Viewer, found: &Found, listed: Listed) -> SearchPage {
    let frame = match &found.project {
        Some(project) => Frame::of_project(visit, viewer, "Search", frame_of(project, "")),
        None => Frame::new(visit, viewer, "Search"),
    };
    let text = text_of(visit);
    let of_project = found
        .project
        .as_ref()
        .map(|project| ("project_id", project.placed.project.id.to_string(), project.path()));
    let of_group = found.group.as_ref().map(|page| {
        let path = page.group.path.as_str().to_owned();
        ("group_id", path.clone(), path)
    });
    let within = of_project.or(of_group);
    let tab = |each: Listed, total: Option<u64>| {
        let (scope, name) = each.names();
        let mut pairs = vec![("search", text.as_str()), ("scope", scope)];
        if let Some((parameter, id, _)) = &within {
            pairs.push((parameter, id));
        }
        let total = match total {
            Some(total) if total >= u64::from(MAX_TITLES) => format!(" {total}+"),
            Some(total) => format!(" {total}"),
            None => String::new(),
        };
        Tab {
            text: format!("{name}{total}"),
            address: format!("/search?{}", address::query(pairs)),
            is_current: each == listed,
        }
    };
    let counted = found.totals.iter();
    let mut tabs: Vec<Tab> =
        counted.map(|(scope, total)| tab(Listed::Counted(*scope), Some(*total))).collect();
    if found.project.as_ref().is_some_and(|page| page.may(ProjectAbility::DownloadCode)) {
        tabs.extend([Listed::Code, Listed::Commits].map(|each| tab(each, None)));
    }
    let shown = Shown::Hits(vec![]);
    let (is_empty, note, pager) = (true, None, None);
    SearchPage { frame, within, tabs, shown, is_empty, note, pager, text }
}

/// The number of results of a scope.
fn total_of(found: &Found, scope: Scope) -> u64 {
    found.totals.iter().find(|(known, _)| *known == scope).map_or(0, |(_, total)| *total)
}

fn show_found(
    visit: &Visit,
    viewer: &Viewer,
    found: Found,
    scope: Scope,
) -> PageResult<HttpResponse> {
    let mut page = page_of(visit, viewer, &found, Listed::Counted(scope));
    let total = total_of(&found, scope);
    page.pager = Some(Pager::new(visit, total));
    page.shown = match found.results {
        Results::Projects(projects) => {
            Shown::Projects(projects.iter().map(|one| Row::new(one, &page.frame)).collect())
        }
        Results::Titles(hits) => {
            Shown::Hits(hits.into_iter().map(|hit| title_hit(scope, hit)).collect())
        }
        Results::People(users) => Shown::Hits(
            users
                .iter()
                .map(|user| Hit {
                    address: format!("/u/{}", user.username.as_str()),
                    title: user.name.as_str().to_owned(),
                    detail: format!("@{}", user.username.as_str()),
                })
                .collect(),
        ),
    };
    page.is_empty = total == 0;
    render::page(visit, viewer, &page)
}

fn title_hit(scope: Scope, TitleHit { project, number, title }: TitleHit) -> Hit {
    let (kind, sign) = match scope {
        Scope::MergeRequests => ("merge_requests", "!"),
        Scope::Milestones => ("milestones", "%"),
        Scope::Issues | Scope::Projects | Scope::People => ("issues", "#"),
    };
    Hit {
        address: format!("/{project}/{kind}/{number}"),
        title,
        detail: format!("{project}{sign}{number}"),
    }
}

/// Tells that the search was cut.
fn note_of<T>(hits: &Hits<T>) -> Option<String> {
    let text = "Only a part was searched, in a limited time. Search for more letters, or clone the repository.";
    (!hits.is_complete).then(|| text.to_owned())
}

fn show_code(
    visit: &Visit,
    viewer: &Viewer,
    found: Found,
    hits: Hits<CodeHit>,
) -> PageResult<HttpResponse> {
    let mut page = page_of(visit, viewer, &found, Listed::Code);
    let branch = found.project.as_ref().and_then(|one| one.placed.project.default_branch.clone());
    let branch = branch.map_or_else(String::new, |name| address::path(name.as_str()));
    let base = found.project.map_or_else(String::new, |project| project.path());
    page.note = note_of(&hits);
    page.is_empty = hits.items.is_empty();
    let hit = |CodeHit { path, line, text }: CodeHit| Hit {
        address: format!("/{base}/blob/{branch}/{}#L{line}", address::path(&path)),
        title: format!("{}:{line}", visible::name(&path)),
        detail: visible::line(&text),
    };
    page.shown = Shown::Hits(hits.items.into_iter().map(hit).collect());
    render::page(visit, viewer, &page)
}

fn show_commits(
    visit: &Visit,
    viewer: &Viewer,
    found: Found,
    hits: Hits<Commit>,
) -> PageResult<HttpResponse> {
    let mut page = page_of(visit, viewer, &found, Listed::Commits);
    page.note = note_of(&hits);
    page.is_empty = hits.items.is_empty();
    let base = found.project.map_or_else(String::new, |project| format!("/{}", project.path()));
    let lines = hits.items.iter().map(|commit| CommitLine::new(commit, &page.frame)).collect();
    page.shown = Shown::Commits(base, lines);
    render::page(visit, viewer, &page)
}

/// Suggestions for a script, as JSON.
async fn autocomplete(visit: Visit) -> PageResult<HttpResponse> {
    let text = visit.search("term").or_else(|| visit.search("search")).unwrap_or_default();
    let (_, projects) = visit
        .run(move |app, viewer| match text.as_str() {
            "" => Ok(vec![]),
            text => search::suggest(app, viewer.actor(), text, SUGGESTIONS),
        })
        .await?;
    let suggestion = |placed: &ProjectWithNamespace| {
        let path = placed.place.path_of(&placed.project);
        json!({ "category": "Projects", "label": path, "url": format!("/{path}") })
    };
    let suggestions: Vec<_> = projects.iter().map(suggestion).collect();
    Ok(HttpResponse::Ok()
        .content_type("application/json")
        .insert_header((CACHE_CONTROL, "private, no-cache"))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .body(json!(suggestions).to_string()))
}
