//! Groups: lists, the pages of a group, and its settings.

mod edit;
mod new;
mod tracker;

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::group::page::{self as group_page, GroupList, GroupPage};
use hexforge_application::person::{self, Named};
use hexforge_domain::group::GroupRef;
use hexforge_domain::id::NamespaceId;
use hexforge_domain::namespace::Namespace;
use hexforge_domain::paging::Paged;
use hexforge_domain::policy::group::GroupAbility;

use super::activity::{self, Entry};
use super::explore::{self, Row, visibility_name};
use crate::error::PageResult;
use crate::frame::{Frame, Pager};
use crate::render;
use crate::table::Pages;
use crate::visit::{PER_PAGE, Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/dashboard/groups", own);
    pages.get("/explore/groups", visible);
    pages.get("/groups", redirect);
    new::declare(pages);
    edit::declare(pages);
    tracker::declare(pages);
    pages.get("/groups/{path}/projects", projects);
    pages.get("/groups/{path}/activity", show_activity);
    pages.get("/groups/{path}.atom", feed);
    pages.get("/groups/{path}", home);
}

/// A group in a list.
pub(super) struct GroupRow {
    pub(super) path: String,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) visibility: &'static str,
}

impl GroupRow {
    pub(super) fn new(group: &Namespace) -> Self {
        Self {
            path: group.path.as_str().to_owned(),
            name: group.name.clone(),
            description: group.description.clone(),
            visibility: visibility_name(group.visibility),
        }
    }
}

#[derive(Template)]
#[template(path = "group/list.html")]
struct ListPage {
    frame: Frame,
    heading: &'static str,
    rows: Vec<GroupRow>,
    total: u64,
    search: String,
    pager: Pager,
}

async fn own(visit: Visit) -> PageResult<HttpResponse> {
    let (search, page) = (search_of(&visit), visit.page());
    let (viewer, groups) = visit
        .run_signed_in(move |app, signed_in| {
            group_page::list(app, signed_in.actor, GroupList::Own, search.clone(), page)
        })
        .await?;
    show_list(&visit, &viewer, "Groups", groups)
}

async fn visible(visit: Visit) -> PageResult<HttpResponse> {
    let (search, page) = (search_of(&visit), visit.page());
    let (viewer, groups) = visit
        .run(move |app, viewer| {
            group_page::list(app, viewer.actor(), GroupList::Visible, search.clone(), page)
        })
        .await?;
    show_list(&visit, &viewer, "Explore groups", groups)
}

pub(super) fn search_of(visit: &Visit) -> Option<String> {
    visit.search("search")
}

fn show_list(
    visit: &Visit,
    viewer: &Viewer,
    heading: &'static str,
    groups: Paged<Namespace>,
) -> PageResult<HttpResponse> {
    let page = ListPage {
        frame: Frame::new(visit, viewer, heading),
        heading,
        rows: groups.items.iter().map(GroupRow::new).collect(),
        total: groups.total,
        search: search_of(visit).unwrap_or_default(),
        pager: Pager::new(visit, groups.total),
    };
    render::page(visit, viewer, &page)
}

async fn redirect(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, ()) = visit.run(|_, _| Ok(())).await?;
    let is_signed_in = viewer.signed_in().is_some();
    let target = if is_signed_in { "/dashboard/groups" } else { "/explore/groups" };
    Ok(HttpResponse::Found().insert_header(("Location", target)).finish())
}

/// What all pages of a group show.
pub(super) struct GroupFrame {
    pub(super) id: NamespaceId,
    pub(super) path: String,
    pub(super) name: String,
    pub(super) section: &'static str,
    pub(super) may_edit: bool,
    pub(super) may_create: bool,
    /// Whether the viewer is signed in. Others see no issues.
    pub(super) is_user: bool,
}

impl GroupFrame {
    pub(super) fn new(page: &GroupPage, section: &'static str) -> Self {
        Self {
            id: page.group.id,
            path: page.group.path.as_str().to_owned(),
            name: page.group.name.clone(),
            section,
            may_edit: page.may(GroupAbility::Administer),
            may_create: page.may(GroupAbility::CreateProjects),
            is_user: page.is_user(),
        }
    }
}

/// The frame of a page of a group.
pub(super) fn frame_of(visit: &Visit, viewer: &Viewer, what: &str, group: &Namespace) -> Frame {
    let mut frame = Frame::new(visit, viewer, what);
    if what != group.name {
        frame.title = format!("{what} · {} · hexforge", group.name);
    }
    frame.feed = Some(format!("/groups/{}.atom", group.path.as_str()));
    frame
}

/// The group in the stored spelling, which the address may ignore.
pub(super) fn spelled(app: &App, named: &GroupRef) -> Result<GroupRef, Error> {
    match person::resolve(app, named.as_path()) {
        Ok(Named::Group(path)) => Ok(GroupRef::new(path)),
        Ok(Named::Person(_)) | Err(Error::NotFound(_)) => Ok(named.clone()),
        Err(error) => Err(error),
    }
}

/// Redirects to the stored spelling of an address below `/groups`. Only those who may see the group get here.
pub(super) fn other_spelling(
    visit: &Visit,
    given: &str,
    group: &Namespace,
) -> Option<HttpResponse> {
    let address = visit.path_and_query();
    let below = address.strip_prefix("/groups/")?;
    let end = below.find(['/', '?']).unwrap_or(below.len());
    let stored = group.path.as_str();
    // The address may also have the id of the group.
    let is_other = given != stored && given.eq_ignore_ascii_case(stored);
    is_other.then(|| render::moved(&format!("/groups/{stored}{}", &below[end..])).ok()).flatten()
}

fn named(visit: &Visit) -> GroupRef {
    GroupRef::new(visit.param("path"))
}

#[derive(Template)]
#[template(path = "group/home.html")]
struct HomePage {
    frame: Frame,
    group: GroupFrame,
    description: String,
    visibility: &'static str,
    rows: Vec<Row>,
    total: u64,
    search: String,
    pager: Pager,
}

async fn home(visit: Visit) -> PageResult<HttpResponse> {
    show_projects(&visit, visit.param("path"), "Overview").await
}

async fn projects(visit: Visit) -> PageResult<HttpResponse> {
    show_projects(&visit, visit.param("path"), "Projects").await
}

/// A group with its projects.
pub(super) async fn show_projects(
    visit: &Visit,
    path: String,
    section: &'static str,
) -> PageResult<HttpResponse> {
    let (named, listing, page) = (GroupRef::new(path), explore::listing(visit), visit.page());
    let (viewer, (found, projects)) = visit
        .run(move |app, viewer| {
            let named = spelled(app, &named)?;
            group_page::projects(app, viewer.actor(), &named, &listing, page)
        })
        .await?;
    if let Some(redirect) = other_spelling(visit, &visit.param("path"), &found.group) {
        return Ok(redirect);
    }
    let what = if section == "Overview" { &found.group.name } else { section };
    let frame = frame_of(visit, &viewer, what, &found.group);
    let page = HomePage {
        group: GroupFrame::new(&found, section),
        description: found.group.description.clone(),
        visibility: visibility_name(found.group.visibility),
        rows: projects.items.iter().map(|placed| Row::new(placed, &frame)).collect(),
        total: projects.total,
        search: search_of(visit).unwrap_or_default(),
        pager: Pager::new(visit, projects.total),
        frame,
    };
    render::page(visit, &viewer, &page)
}

#[derive(Template)]
#[template(path = "group/activity.html")]
struct ActivityPage {
    frame: Frame,
    group: GroupFrame,
    entries: Vec<Entry>,
    pager: Pager,
}

async fn show_activity(visit: Visit) -> PageResult<HttpResponse> {
    let (named, page) = (named(&visit), visit.page());
    let (viewer, (found, events)) = visit
        .run(move |app, viewer| {
            group_page::activity(app, viewer.actor(), &spelled(app, &named)?, page)
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &visit.param("path"), &found.group) {
        return Ok(redirect);
    }
    let frame = frame_of(&visit, &viewer, "Activity", &found.group);
    let page = ActivityPage {
        group: GroupFrame::new(&found, "Activity"),
        entries: Entry::list(&events, &frame),
        pager: Pager::uncounted(&visit, activity::may_have_more(&events)),
        frame,
    };
    render::page(&visit, &viewer, &page)
}

async fn feed(visit: Visit) -> PageResult<HttpResponse> {
    let named = named(&visit);
    let token = visit.feed_token();
    let first = hexforge_domain::paging::Page::Numbered { number: 1, size: PER_PAGE };
    let (_, (found, events)) = visit
        .run(move |app, viewer| {
            let actor = activity::feed_reader(app, viewer, token.as_deref())?;
            group_page::activity(app, actor, &named, first)
        })
        .await?;
    let page = format!("/groups/{}", found.group.path.as_str());
    activity::feed(&visit, &found.group.name, &page, &events)
}
