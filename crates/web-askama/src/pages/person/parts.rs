//! The parts of the page of a person, each by itself.

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::person::{self, Person};
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectWithNamespace;
use hexforge_domain::snippet::Snippet;

use super::super::explore::{Row, visibility_name};
use super::super::groups::GroupRow;
use super::calendar::Calendar;
use super::{PersonFrame, frame_of};
use crate::error::PageResult;
use crate::frame::{Frame, Pager};
use crate::moment::Moment;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/users/{username}/projects", projects);
    pages.get("/users/{username}/groups", groups);
    pages.get("/users/{username}/contributed", contributed);
    pages.get("/users/{username}/snippets", snippets);
    pages.get("/users/{username}/calendar", calendar);
}

struct SnippetRow {
    id: i64,
    title: String,
    visibility: &'static str,
    updated: Moment,
}

/// What a part shows.
enum Content {
    Projects(Vec<Row>),
    Groups(Vec<GroupRow>),
    Snippets(Vec<SnippetRow>),
    Calendar(Calendar),
}

#[derive(Template)]
#[template(path = "person/part.html")]
struct PartPage {
    frame: Frame,
    person: PersonFrame,
    content: Content,
    pager: Option<Pager>,
}

/// A use case that reads a person with a part.
type Reader<T> = fn(&App, Actor, &str) -> Result<(Person, T), Error>;

/// Reads a part of the person in the address.
async fn read<T: Send + 'static>(
    visit: &Visit,
    read: Reader<T>,
) -> PageResult<(Viewer, (Person, T))> {
    let username = visit.param("username");
    visit.run(move |app, viewer| read(app, viewer.actor(), &username)).await
}

fn show(
    visit: &Visit,
    viewer: &Viewer,
    person: &Person,
    section: &'static str,
    content: impl FnOnce(&Frame) -> Content,
    pager: Option<Pager>,
) -> PageResult<HttpResponse> {
    let frame = frame_of(visit, viewer, section, &person.user);
    let page = PartPage {
        person: PersonFrame::new(&person.user, section),
        content: content(&frame),
        frame,
        pager,
    };
    render::page(visit, viewer, &page)
}

fn rows(projects: &[ProjectWithNamespace], frame: &Frame) -> Content {
    Content::Projects(projects.iter().map(|placed| Row::new(placed, frame)).collect())
}

async fn projects(visit: Visit) -> PageResult<HttpResponse> {
    let (username, page) = (visit.param("username"), visit.page());
    let (viewer, (found, projects)) = visit
        .run(move |app, viewer| person::projects(app, viewer.actor(), &username, page))
        .await?;
    let pager = Pager::new(&visit, projects.total);
    let content = |frame: &Frame| rows(&projects.items, frame);
    show(&visit, &viewer, &found, "Projects", content, Some(pager))
}

async fn contributed(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, (found, projects)) = read(&visit, person::contributed).await?;
    let content = |frame: &Frame| rows(&projects, frame);
    show(&visit, &viewer, &found, "Contributed projects", content, None)
}

async fn groups(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, (found, groups)) = read(&visit, person::groups).await?;
    let content = |_: &Frame| Content::Groups(groups.iter().map(GroupRow::new).collect());
    show(&visit, &viewer, &found, "Groups", content, None)
}

async fn snippets(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, (found, snippets)) = read(&visit, person::snippets).await?;
    let content = |frame: &Frame| {
        let row = |snippet: &Snippet| SnippetRow {
            id: snippet.id.0,
            title: snippet.title.as_str().to_owned(),
            visibility: visibility_name(snippet.visibility),
            updated: frame.moment(snippet.updated_at),
        };
        Content::Snippets(snippets.iter().map(row).collect())
    };
    show(&visit, &viewer, &found, "Snippets", content, None)
}

async fn calendar(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, (found, times)) = read(&visit, person::calendar).await?;
    let today = visit.app().today();
    let name = found.user.name.as_str();
    let content = |_: &Frame| Content::Calendar(Calendar::new(name, &times, today));
    show(&visit, &viewer, &found, "Calendar", content, None)
}
