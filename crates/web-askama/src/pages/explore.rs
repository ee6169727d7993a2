//! Lists of projects: own, starred, and those that everybody may see.

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::project::{self, ProjectList, ProjectListing};
use hexforge_domain::paging::Paged;
use hexforge_domain::project::ProjectWithNamespace;
use hexforge_domain::project::query::ProjectOrder;
use hexforge_domain::visibility::Visibility;

use crate::error::PageResult;
use crate::forms::Choice;
use crate::frame::{Frame, Pager};
use crate::moment::{Moment, count};
use crate::render;
use crate::visit::{Viewer, Visit};

/// A project in a list.
pub(super) struct Row {
    pub(super) path: String,
    pub(super) description: String,
    pub(super) visibility: &'static str,
    pub(super) stars: String,
    /// The number of open issues, for those who are signed in. Others see no issues.
    pub(super) issues: Option<String>,
    pub(super) active: Moment,
}

impl Row {
    pub(super) fn new(
        ProjectWithNamespace { project, place }: &ProjectWithNamespace,
        frame: &Frame,
    ) -> Self {
        Self {
            path: place.path_of(project),
            description: project.description.as_ref().map_or("", |text| text.as_str()).to_owned(),
            visibility: visibility_name(project.visibility),
            stars: count(project.star_count.into(), "star"),
            issues: (frame.account.is_some() && project.features.issues)
                .then(|| count(project.open_issues_count.into(), "open issue")),
            active: frame.moment(project.last_activity_at),
        }
    }
}

#[derive(Template)]
#[template(path = "projects.html")]
struct Projects {
    frame: Frame,
    heading: &'static str,
    rows: Vec<Row>,
    total: u64,
    search: String,
    pager: Pager,
    sorts: Vec<Choice>,
    tab: Tab,
}

/// The list that a page shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tab {
    Own,
    Starred,
    Explored,
}

/// The name of a visibility level.
pub(super) fn visibility_name(visibility: Visibility) -> &'static str {
    match visibility {
        Visibility::Private => "Private",
        Visibility::Internal => "Internal",
        Visibility::Public => "Public",
    }
}

/// Own projects of a signed-in visitor, otherwise public ones.
pub(super) async fn home(visit: Visit) -> PageResult<HttpResponse> {
    let (listing, page) = (listing(&visit), visit.page());
    let (viewer, projects) = visit
        .run(move |app, viewer| match viewer.signed_in() {
            Some(_) => project::list_simple(app, viewer.actor(), ProjectList::Own, &listing, page),
            None => project::explore(app, viewer.actor(), &listing, page),
        })
        .await?;
    let tab = if viewer.signed_in().is_some() { Tab::Own } else { Tab::Explored };
    show(&visit, &viewer, "Projects", tab, projects)
}

/// Own projects.
pub(super) async fn own(visit: Visit) -> PageResult<HttpResponse> {
    list(visit, ProjectList::Own, "Projects", Tab::Own).await
}

/// Starred projects.
pub(super) async fn starred(visit: Visit) -> PageResult<HttpResponse> {
    list(visit, ProjectList::Starred, "Starred projects", Tab::Starred).await
}

async fn list(
    visit: Visit,
    which: ProjectList,
    heading: &'static str,
    tab: Tab,
) -> PageResult<HttpResponse> {
    let (listing, page) = (listing(&visit), visit.page());
    let (viewer, projects) = visit
        .run_signed_in(move |app, signed_in| {
            project::list_simple(app, signed_in.actor, which, &listing, page)
        })
        .await?;
    show(&visit, &viewer, heading, tab, projects)
}

/// Projects that everybody may see.
pub(super) async fn explore(visit: Visit) -> PageResult<HttpResponse> {
    let (listing, page) = (listing(&visit), visit.page());
    let (viewer, projects) =
        visit.run(move |app, viewer| project::explore(app, viewer.actor(), &listing, page)).await?;
    show(&visit, &viewer, "Explore projects", Tab::Explored, projects)
}

/// An old address.
pub(super) async fn public(_: Visit) -> PageResult<HttpResponse> {
    render::moved("/explore/projects")
}

/// An order of projects: the word in the query, the label, and the order.
type Sort = (&'static str, &'static str, ProjectOrder, bool);

/// The orders to choose from. The first one is chosen unless the query has another.
const SORTS: [Sort; 6] = [
    ("activity_desc", "Last activity", ProjectOrder::LastActivityAt, true),
    ("stars_desc", "Most stars", ProjectOrder::Stars, true),
    ("name_asc", "Name, A to Z", ProjectOrder::Name, false),
    ("name_desc", "Name, Z to A", ProjectOrder::Name, true),
    ("created_desc", "Newest", ProjectOrder::CreatedAt, true),
    ("created_asc", "Oldest", ProjectOrder::CreatedAt, false),
];

/// The page with the most starred projects. Its order is that of its address, unless the query has another.
const MOST_STARRED: &str = "/explore/projects/starred";

fn sort_of(visit: &Visit) -> Sort {
    let known = SORTS.into_iter().find(|(word, ..)| visit.query("sort") == Some(word));
    let default = if visit.request().path() == MOST_STARRED { SORTS[1] } else { SORTS[0] };
    known.unwrap_or(default)
}

/// The filter and order in the query.
pub(super) fn listing(visit: &Visit) -> ProjectListing {
    let search = visit.search("search").or_else(|| visit.search("name"));
    let (_, _, order, descending) = sort_of(visit);
    ProjectListing {
        archived: None,
        visibility: None,
        search,
        order,
        descending,
        builds_first: false,
    }
}

fn show(
    visit: &Visit,
    viewer: &Viewer,
    heading: &'static str,
    tab: Tab,
    projects: Paged<ProjectWithNamespace>,
) -> PageResult<HttpResponse> {
    let mut frame = Frame::new(visit, viewer, heading);
    frame.feed = (tab == Tab::Own).then(|| "/dashboard/projects.atom".to_owned());
    let (chosen, ..) = sort_of(visit);
    let page = Projects {
        heading,
        rows: projects.items.iter().map(|placed| Row::new(placed, &frame)).collect(),
        total: projects.total,
        search: listing(visit).search.unwrap_or_default(),
        pager: Pager::new(visit, projects.total),
        sorts: SORTS.map(|(word, label, ..)| Choice::new(word, label, word == chosen)).into(),
        tab,
        frame,
    };
    render::page(visit, viewer, &page)
}
