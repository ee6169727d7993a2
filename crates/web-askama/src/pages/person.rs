//! The pages of a person, and the short addresses of persons and groups.

mod calendar;
mod parts;

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::person::{self, Named, Overview};
use hexforge_domain::namespace::NamespacePath;
use hexforge_domain::text::ShortText;
use hexforge_domain::user::User;

use super::activity::{self, Entry};
use super::explore::Row;
use super::groups;
use crate::error::PageResult;
use crate::frame::{Frame, avatar_of};
use crate::render;
use crate::table::Pages;
use crate::visit::{PER_PAGE, Viewer, Visit};
use calendar::Calendar;

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/u/{username}", by_old_address);
    parts::declare(pages);
    pages.get("/users/{username}", by_old_address);
}

/// Declares the addresses of one segment, which come last.
pub(super) fn declare_names(pages: &mut Pages) {
    pages.get("/{username}.atom", feed);
    pages.get("/{username}.keys", keys);
    pages.get("/{name}", by_name);
}

/// What all pages of a person show.
pub(super) struct PersonFrame {
    pub(super) username: String,
    pub(super) name: String,
    pub(super) avatar: String,
    pub(super) section: &'static str,
}

impl PersonFrame {
    pub(super) fn new(user: &User, section: &'static str) -> Self {
        let username = user.username.as_str().to_owned();
        let avatar = avatar_of(user);
        Self { username, name: user.name.as_str().to_owned(), avatar, section }
    }
}

/// The frame of a page of a person.
pub(super) fn frame_of(visit: &Visit, viewer: &Viewer, what: &str, user: &User) -> Frame {
    let mut frame = Frame::new(visit, viewer, what);
    if what != user.name.as_str() {
        frame.title = format!("{what} · {} · hexforge", user.name.as_str());
    }
    frame.feed = Some(format!("/{}.atom", user.username.as_str()));
    frame
}

#[derive(Template)]
#[template(path = "person/home.html")]
struct HomePage {
    frame: Frame,
    person: PersonFrame,
    bio: String,
    facts: Vec<(&'static str, String)>,
    website: Option<String>,
    rows: Vec<Row>,
    entries: Vec<Entry>,
    calendar: Calendar,
}

/// A person or a group, by the only segment of the address.
async fn by_name(visit: Visit) -> PageResult<HttpResponse> {
    let name = visit.param("name");
    let asked = name.clone();
    let (_, found) = visit.run(move |app, _| person::resolve(app, &asked)).await?;
    let stored = match &found {
        Named::Person(stored) | Named::Group(stored) => stored.clone(),
    };
    let shown = match found {
        Named::Person(username) => show(&visit, username).await?,
        Named::Group(path) => groups::show_projects(&visit, path, "Overview").await?,
    };
    // Only those who may see the page learn how its name is spelled.
    if stored == name { Ok(shown) } else { render::moved(&format!("/{stored}")) }
}

/// Redirects to the page of a person. A person whose name became a word of the service has the page here.
async fn by_old_address(visit: Visit) -> PageResult<HttpResponse> {
    let username = visit.param("username");
    let asked = username.clone();
    let (_, found) = visit.run(move |app, viewer| person::get(app, viewer.actor(), &asked)).await?;
    let stored = found.user.username.as_str().to_owned();
    if NamespacePath::is_reserved(&stored) {
        return show(&visit, stored).await;
    }
    render::moved(&format!("/{stored}"))
}

async fn show(visit: &Visit, username: String) -> PageResult<HttpResponse> {
    let (viewer, overview) =
        visit.run(move |app, viewer| person::overview(app, viewer.actor(), &username)).await?;
    let Overview { person, projects, events, times } = overview;
    let user = &person.user;
    let frame = frame_of(visit, &viewer, user.name.as_str(), user);
    let text =
        |text: &Option<ShortText>| text.as_ref().map_or("", |text| text.as_str()).trim().to_owned();
    let profile = &user.profile;
    let facts = [
        ("Location", text(&profile.location)),
        ("Organization", text(&profile.organization)),
        ("Skype", text(&profile.skype)),
        ("LinkedIn", text(&profile.linkedin)),
        ("Twitter", text(&profile.twitter)),
    ];
    let website = text(&profile.website_url);
    let is_link = ["http://", "https://"].iter().any(|scheme| website.starts_with(scheme));
    let today = visit.app().today();
    let page = HomePage {
        person: PersonFrame::new(user, "Overview"),
        bio: text(&profile.bio),
        facts: facts.into_iter().filter(|(_, text)| !text.is_empty()).collect(),
        website: is_link.then_some(website),
        rows: projects.items.iter().map(|placed| Row::new(placed, &frame)).collect(),
        entries: Entry::list(&events, &frame),
        calendar: Calendar::new(user.name.as_str(), &times, today),
        frame,
    };
    render::page(visit, &viewer, &page)
}

/// The public keys of a person, one in each line.
async fn keys(visit: Visit) -> PageResult<HttpResponse> {
    let username = visit.param("username");
    let (_, keys) =
        visit.run(move |app, viewer| person::keys(app, viewer.actor(), &username)).await?;
    let lines: String = keys.iter().map(|key| format!("{}\n", key.trim())).collect();
    Ok(render::foreign_bytes("text/plain; charset=utf-8").body(lines))
}

/// The activity of a person or in a group, as a feed.
async fn feed(visit: Visit) -> PageResult<HttpResponse> {
    let username = visit.param("username");
    let token = visit.feed_token();
    let first = hexforge_domain::paging::Page::Numbered { number: 1, size: PER_PAGE };
    let (_, (title, page, events)) = visit
        .run(move |app, viewer| {
            let actor = activity::feed_reader(app, viewer, token.as_deref())?;
            match person::resolve(app, &username)? {
                Named::Person(username) => {
                    let (found, events) = person::activity(app, actor, &username, first)?;
                    Ok((found.user.name.as_str().to_owned(), format!("/{username}"), events))
                }
                Named::Group(path) => {
                    let named = hexforge_domain::group::GroupRef::new(path.clone());
                    let (found, events) =
                        hexforge_application::group::page::activity(app, actor, &named, first)?;
                    Ok((found.group.name, format!("/groups/{path}"), events))
                }
            }
        })
        .await?;
    activity::feed(&visit, &title, &page, &events)
}
