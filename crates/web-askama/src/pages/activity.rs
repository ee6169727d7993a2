//! Activity: the entries of lists, the activity in own projects, and Atom feeds.

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::event::{self, FeedEntry};
use hexforge_application::sign_in::{self, Credentials};
use hexforge_application::view::event::{EventView, kind};
use hexforge_domain::event::EventAction;
use hexforge_domain::note::Noteable;
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;

use crate::error::{PageError, PageResult};
use crate::feed as atom;
use crate::frame::{Frame, Pager};
use crate::moment::{Moment, count};
use crate::render;
use crate::table::Pages;
use crate::visit::{PER_PAGE, Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/dashboard/activity", dashboard);
    pages.get("/dashboard.atom", dashboard_feed);
    pages.get("/dashboard/projects.atom", dashboard_feed);
}

/// An entry as pages and feeds show it.
pub(super) struct Entry {
    pub(super) author: String,
    pub(super) username: String,
    /// What was done, without the project: `pushed to branch master at`.
    pub(super) text: String,
    pub(super) project: String,
    /// The title of the object, or of the newest commit.
    pub(super) title: String,
    /// The page of the object, or of the newest commit.
    pub(super) address: Option<String>,
    pub(super) at: Moment,
}

impl Entry {
    pub(super) fn new(entry: &FeedEntry, frame: &Frame) -> Self {
        let (event, author) = (&entry.view.event, &entry.view.author);
        Self {
            author: author.name.as_str().to_owned(),
            username: author.username.as_str().to_owned(),
            text: text_of(entry),
            project: entry.project.clone(),
            title: atom::xml_text(&title_of(entry)),
            address: address_of(entry, frame.account.is_some()),
            at: frame.moment(event.created_at),
        }
    }

    pub(super) fn list(entries: &[FeedEntry], frame: &Frame) -> Vec<Self> {
        entries.iter().map(|entry| Self::new(entry, frame)).collect()
    }
}

fn text_of(entry: &FeedEntry) -> String {
    let verb = entry.view.event.action.as_str();
    match (words_of_object(&entry.view), entry.view.event.action) {
        (Some(words), _) => format!("{words} at"),
        (
            None,
            EventAction::Created
            | EventAction::Imported
            | EventAction::Joined
            | EventAction::Left
            | EventAction::Expired,
        ) => format!("{verb} project"),
        (None, _) => format!("{verb} in"),
    }
}

/// What was done with which object: `pushed 2 commits to branch master`, `opened issue`. `None` if the event has no object
/// in the project.
pub(super) fn words_of_object(view: &EventView) -> Option<String> {
    let event = &view.event;
    let verb = event.action.as_str();
    if let Some(push) = &event.push {
        let (kind, name) = match push.reference.strip_prefix("refs/tags/") {
            Some(tag) => ("tag", tag),
            None => {
                ("branch", push.reference.strip_prefix("refs/heads/").unwrap_or(&push.reference))
            }
        };
        return Some(match event.action {
            EventAction::PushedTo => {
                format!("pushed {} to {kind} {name}", count(push.total_commits, "commit"))
            }
            _ => format!("{verb} {kind} {name}"),
        });
    }
    let kind = match event.target.as_ref()?.kind.as_str() {
        "MergeRequest" => "merge request".to_owned(),
        "Note" | "LegacyDiffNote" => "a thread".to_owned(),
        kind => kind.to_lowercase(),
    };
    Some(format!("{verb} {kind}"))
}

fn title_of(entry: &FeedEntry) -> String {
    let event = &entry.view.event;
    let of_target = event.target.as_ref().and_then(|target| target.title.clone());
    let commit = event.push.as_ref().and_then(|push| push.commits.last());
    let of_commit = commit.and_then(|commit| commit.message.lines().next().map(str::to_owned));
    of_target.or(of_commit).unwrap_or_default()
}

/// The page of the object of an event, or of the newest commit of a push. Strangers have no pages of issues, merge
/// requests, milestones and snippets.
fn address_of(FeedEntry { view, project }: &FeedEntry, is_signed_in: bool) -> Option<String> {
    if let Some(push) = &view.event.push {
        return push.commits.last().map(|commit| format!("/{project}/commit/{}", commit.id));
    }
    let target = view.event.target.as_ref().filter(|_| is_signed_in)?;
    let page = match (target.belongs_to, view.number) {
        (Some(Noteable::Issue(_)), Some(number)) => format!("issues/{number}"),
        (Some(Noteable::MergeRequest(_)), Some(number)) => format!("merge_requests/{number}"),
        (Some(Noteable::Snippet(snippet)), _) => format!("snippets/{snippet}"),
        (Some(_), _) => return None,
        (None, _) if target.kind == kind::MILESTONE => format!("milestones/{}", target.id?),
        (None, _) => return None,
    };
    let anchor = view.note.as_ref().map(|view| format!("#note_{}", view.note.id));
    Some(format!("/{project}/{page}{}", anchor.unwrap_or_default()))
}

#[derive(Template)]
#[template(path = "activity.html")]
struct ActivityPage {
    frame: Frame,
    entries: Vec<Entry>,
    pager: Pager,
}

async fn dashboard(visit: Visit) -> PageResult<HttpResponse> {
    let page = visit.page();
    let (viewer, events) = visit
        .run_signed_in(move |app, signed_in| {
            event::list_of_own_projects(app, signed_in.actor, page)
        })
        .await?;
    let mut frame = Frame::new(&visit, &viewer, "Activity");
    frame.feed = Some("/dashboard.atom".to_owned());
    let page = ActivityPage {
        entries: Entry::list(&events, &frame),
        pager: Pager::uncounted(&visit, may_have_more(&events)),
        frame,
    };
    render::page(&visit, &viewer, &page)
}

/// Returns whether there may be a next page of a list whose total is not counted: this one is full.
pub(super) fn may_have_more<T>(items: &[T]) -> bool {
    items.len() as u64 >= PER_PAGE
}

async fn dashboard_feed(visit: Visit) -> PageResult<HttpResponse> {
    let token = visit.feed_token();
    let first = Page::Numbered { number: 1, size: PER_PAGE };
    let (_, events) = visit
        .run(move |app, viewer| {
            let actor = feed_reader(app, viewer, token.as_deref())?;
            match actor {
                Actor::Anonymous => Ok(None),
                actor => event::list_of_own_projects(app, actor, first).map(Some),
            }
        })
        .await?;
    let Some(events) = events else { return Err(PageError::sign_in()) };
    feed(&visit, "Activity in your projects", "/dashboard/activity", &events)
}

/// The reader of a feed: the visitor, or the user of the token in the address, as feed readers send it.
pub(super) fn feed_reader(app: &App, viewer: &Viewer, token: Option<&str>) -> Result<Actor, Error> {
    match (viewer.actor(), token) {
        (Actor::Anonymous, Some(token)) => {
            let private_token = Some(token.to_owned());
            sign_in::identify(app, &Credentials { private_token, ..Credentials::default() })
        }
        (actor, _) => Ok(actor),
    }
}

/// An Atom feed of the events of a page. A reader that has it already gets 304.
pub(super) fn feed(
    visit: &Visit,
    title: &str,
    page: &str,
    events: &[FeedEntry],
) -> PageResult<HttpResponse> {
    let entry = |entry: &FeedEntry| {
        let event = &entry.view.event;
        let author = entry.view.author.name.as_str();
        atom::FeedEntry {
            // Entries are told apart by their addresses.
            page: format!("/{}#event-{}", entry.project, event.id),
            title: format!("{author} {} {}", text_of(entry), entry.project),
            author: author.to_owned(),
            updated: event.created_at,
            summary: title_of(entry),
        }
    };
    let entries = events.iter().map(entry).collect();
    atom::send(visit, atom::Feed { title: title.to_owned(), page: page.to_owned(), entries })
}
