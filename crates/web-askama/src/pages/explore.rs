//! Lists of projects: own, starred, and those that everybody may see.

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::project::{self, ProjectList, ProjectListing};
use hexforge_application::view::project::PlacedProject;
use hexforge_domain::paging::Paged;
use hexforge_domain::project::query::ProjectOrder;
use hexforge_domain::visibility::Visibility;

use crate::error::PageResult;
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
    pub(super) active: Moment,
}

impl Row {
    pub(super) fn new(PlacedProject { project, place }: &PlacedProject, frame: &Frame) -> Self {
        Self {
            path: place.path_of(project),
            description: project.description.as_ref().map_or("", |text| text.as_str()).to_owned(),
            visibility: visibility_name(project.visibility),
            stars: count(project.star_count.into(), "star"),
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
    is_own: bool,
}

/// The longest text that is searched for.
const MAX_SEARCH: usize = 255;

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
    if visit.session_token().is_none() {
        return explore(visit).await;
    }
    let (listing, page) = (listing(&visit), visit.page());
    let (viewer, projects) = visit
        .run(move |app, viewer| match viewer.signed_in() {
            Some(_) => project::list_simple(app, viewer.actor(), ProjectList::Own, &listing, page),
            None => project::explore(app, viewer.actor(), &listing, page),
        })
        .await?;
    let heading = if viewer.signed_in().is_some() { "Projects" } else { "Explore projects" };
    show(&visit, &viewer, heading, projects)
}

/// Own projects.
pub(super) async fn own(visit: Visit) -> PageResult<HttpResponse> {
    list(visit, ProjectList::Own, "Projects").await
}

/// Starred projects.
pub(super) async fn starred(visit: Visit) -> PageResult<HttpResponse> {
    list(visit, ProjectList::Starred, "Starred projects").await
}

async fn list(visit: Visit, which: ProjectList, heading: &'static str) -> PageResult<HttpResponse> {
    let (listing, page) = (listing(&visit), visit.page());
    let (viewer, projects) = visit
        .run_signed_in(move |app, signed_in| {
            project::list_simple(app, signed_in.actor, which, &listing, page)
        })
        .await?;
    show(&visit, &viewer, heading, projects)
}

/// Projects that everybody may see.
pub(super) async fn explore(visit: Visit) -> PageResult<HttpResponse> {
    let (listing, page) = (listing(&visit), visit.page());
    let (viewer, projects) =
        visit.run(move |app, viewer| project::explore(app, viewer.actor(), &listing, page)).await?;
    show(&visit, &viewer, "Explore projects", projects)
}

/// An old address.
pub(super) async fn public(_: Visit) -> PageResult<HttpResponse> {
    render::moved("/explore/projects")
}

/// The filter and order in the query.
pub(super) fn listing(visit: &Visit) -> ProjectListing {
    let search = visit.query("search").or(visit.query("name"));
    let (order, descending) = match visit.query("sort") {
        Some("name_asc") => (ProjectOrder::Name, false),
        Some("name_desc") => (ProjectOrder::Name, true),
        Some("created_asc") => (ProjectOrder::CreatedAt, false),
        Some("created_desc") => (ProjectOrder::CreatedAt, true),
        _ => (ProjectOrder::LastActivityAt, true),
    };
    ProjectListing {
        archived: None,
        visibility: None,
        search: search.map(|text| text.chars().take(MAX_SEARCH).collect()),
        order,
        descending,
        builds_first: false,
    }
}

fn show(
    visit: &Visit,
    viewer: &Viewer,
    heading: &'static str,
    projects: Paged<PlacedProject>,
) -> PageResult<HttpResponse> {
    let frame = Frame::new(visit, viewer, heading);
    let page = Projects {
        heading,
        rows: projects.items.iter().map(|placed| Row::new(placed, &frame)).collect(),
        total: projects.total,
        search: listing(visit).search.unwrap_or_default(),
        pager: Pager::new(visit, projects.total),
        is_own: heading == "Projects",
        frame,
    };
    render::page(visit, viewer, &page)
}
