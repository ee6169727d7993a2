//! The activity of a project, as a page and as a feed.

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::event;
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_application::view::event::EventView;
use hexforge_domain::paging::Paged;

use super::activity::{feed_reader, words_of_object};
use super::project::{frame_of, other_spelling};
use crate::error::PageResult;
use crate::feed::{self, Feed, FeedEntry};
use crate::frame::{Frame, Pager};
use crate::moment::Moment;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/activity", show);
    pages.get("/{namespace}/{project}.atom", show_feed);
}

/// An event in the list.
struct Row {
    author: String,
    username: String,
    text: String,
    link: Option<String>,
    at: Moment,
}

#[derive(Template)]
#[template(path = "project_activity.html")]
struct ActivityPage {
    frame: Frame,
    rows: Vec<Row>,
    pager: Pager,
}

/// The events for the visitor, or for the user of the token of a feed.
async fn load(
    visit: &Visit,
    feed_token: Option<String>,
) -> PageResult<(Viewer, (ProjectPage, Paged<EventView>))> {
    let (named, page) = (visit.project(), visit.page());
    visit
        .run(move |app, viewer| {
            let actor = feed_reader(app, viewer, feed_token.as_deref())?;
            let project = project_page::get(app, actor, &named)?;
            Ok((project, event::list_of_project(app, actor, &named, page)?))
        })
        .await
}

/// What happened, in words that follow the name of the author.
fn words(view: &EventView) -> String {
    let title = view.event.target.as_ref().and_then(|target| target.title.as_ref());
    match (words_of_object(view), title) {
        (Some(words), Some(title)) => format!("{words} “{title}”"),
        (Some(words), None) => words,
        (None, _) => format!("{} the project", view.event.action.as_str()),
    }
}

/// The page of what was pushed. Other targets have no page yet whose address the event knows.
fn link_of(view: &EventView, base: &str) -> Option<String> {
    let push = view.event.push.as_ref()?;
    push.checkout.map(|commit| format!("{base}/commit/{commit}"))
}

async fn show(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, (project, events)) = load(&visit, None).await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let base = format!("/{}", project.path());
    let mut frame = Frame::of_project(&visit, &viewer, "Activity", frame_of(&project, "Overview"));
    frame.feed = Some(format!("{base}.atom"));
    let row = |view: &EventView| Row {
        author: view.author.name.as_str().to_owned(),
        username: view.author.username.as_str().to_owned(),
        text: words(view),
        link: link_of(view, &base),
        at: frame.moment(view.event.created_at),
    };
    let rows = events.items.iter().map(row).collect();
    let page = ActivityPage { rows, pager: Pager::new(&visit, events.total), frame };
    render::page(&visit, &viewer, &page)
}

async fn show_feed(visit: Visit) -> PageResult<HttpResponse> {
    let (_, (project, events)) = load(&visit, visit.feed_token()).await?;
    if let Some(redirect) = other_spelling_of_feed(&visit, &project) {
        return Ok(redirect);
    }
    let path = project.path();
    let base = format!("/{path}");
    let entry = |view: &EventView| {
        let (author, id) = (view.author.name.as_str(), view.event.id);
        let page = link_of(view, &base).unwrap_or_else(|| base.clone());
        FeedEntry {
            // Entries are told apart by their addresses.
            page: format!("{page}#event-{id}"),
            title: format!("{author} {}", words(view)),
            author: author.to_owned(),
            updated: view.event.created_at,
            summary: String::new(),
        }
    };
    let entries = events.items.iter().map(entry).collect();
    feed::send(&visit, Feed { title: format!("{path} activity"), page: base.clone(), entries })
}

/// Redirects to the stored spelling of the address of a feed.
fn other_spelling_of_feed(visit: &Visit, project: &ProjectPage) -> Option<HttpResponse> {
    let given = format!("{}/{}", visit.param("namespace"), visit.param("project"));
    let stored = project.path();
    if given == stored { None } else { render::moved(&format!("/{stored}.atom")).ok() }
}
