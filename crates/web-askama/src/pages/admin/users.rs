//! The users of the service: list, one user, and the removal.

mod edit;
mod keys;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::error::{Entity, Error};
use hexforge_application::user::block;
use hexforge_application::user::{self, Deletion, UserQuery};
use hexforge_application::view::user::{FullUser, UserPage};
use hexforge_domain::paging::Paged;
use hexforge_domain::user::{User, UserCommand, UserFilter, UserState};

use super::frame_of;
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::frame::{Frame, Pager};
use crate::moment::Moment;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/admin/users", list);
    edit::declare(pages);
    keys::declare(pages);
    pages.post("/admin/users/{username}/block", block);
    pages.post("/admin/users/{username}/unblock", unblock);
    pages.post("/admin/users/{username}/remove", remove);
    pages.get("/admin/users/{username}", show);
}

struct Row {
    username: String,
    name: String,
    email: String,
    state: &'static str,
    role: &'static str,
    projects: u64,
    created: Moment,
}

impl Row {
    fn new(full: &FullUser, frame: &Frame) -> Self {
        let user = &full.user;
        Self {
            username: user.username.as_str().to_owned(),
            name: user.name.as_str().to_owned(),
            email: user.email.as_str().to_owned(),
            state: state_name(user.state),
            role: role_name(user),
            projects: full.personal_projects,
            created: frame.moment(user.created_at),
        }
    }
}

fn state_name(state: UserState) -> &'static str {
    match state {
        UserState::Active => "Active",
        UserState::Blocked => "Blocked",
        UserState::DirectoryBlocked => "Blocked by the directory",
    }
}

fn role_name(user: &User) -> &'static str {
    match (user.privileges.admin, user.privileges.external) {
        (true, _) => "Administrator",
        (false, true) => "External",
        (false, false) => "User",
    }
}

#[derive(Template)]
#[template(path = "admin/users.html")]
struct UsersPage {
    frame: Frame,
    rows: Vec<Row>,
    total: u64,
    search: String,
    filter: String,
    pager: Pager,
}

async fn list(visit: Visit) -> PageResult<HttpResponse> {
    let search = visit.search("search");
    let chosen = visit.query("filter").unwrap_or_default().to_owned();
    let filter = UserFilter {
        active: chosen == "active",
        blocked: chosen == "blocked",
        external: chosen == "external",
        search,
    };
    let (asked, page) = (filter.clone(), visit.page());
    let (viewer, users) = visit
        .run(move |app, viewer| {
            hexforge_application::administration::authorize(viewer.actor())?;
            let query = UserQuery::Matching(asked.clone());
            match user::list(app, viewer.actor(), query, page)? {
                UserPage::Full(users) => Ok(users),
                // Only administrators get here, who see everything.
                UserPage::Summaries(_) => Ok(Paged { items: vec![], total: 0 }),
            }
        })
        .await?;
    let frame = frame_of(&visit, &viewer, "Users");
    let page = UsersPage {
        rows: users.items.iter().map(|full| Row::new(full, &frame)).collect(),
        total: users.total,
        search: filter.search.unwrap_or_default(),
        filter: chosen,
        pager: Pager::new(&visit, users.total),
        frame,
    };
    render::page(&visit, &viewer, &page)
}

#[derive(Template)]
#[template(path = "admin/user.html")]
struct ShowPage {
    frame: Frame,
    faults: Faults,
    row: Row,
    is_blocked: bool,
    is_own: bool,
}

/// Loads the user in the address, for administrators.
async fn load(visit: &Visit) -> PageResult<(Viewer, FullUser)> {
    let username = visit.param("username");
    visit.run(move |app, viewer| user::find_by_username(app, viewer.actor(), &username)).await
}

async fn show(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, full) = load(&visit).await?;
    Ok(show_user(&visit, &viewer, StatusCode::OK, &full, Faults::default()))
}

fn show_user(
    visit: &Visit,
    viewer: &Viewer,
    status: StatusCode,
    full: &FullUser,
    faults: Faults,
) -> HttpResponse {
    let frame = frame_of(visit, viewer, full.user.name.as_str());
    let own = viewer.signed_in().map(|signed_in| signed_in.user.id);
    let page = ShowPage {
        row: Row::new(full, &frame),
        is_blocked: full.user.state != UserState::Active,
        is_own: own == Some(full.user.id),
        frame,
        faults,
    };
    render::page_with(status, visit, viewer, &page)
}

async fn block(visit: Visit) -> PageResult<HttpResponse> {
    change_state(visit, UserCommand::Block).await
}

async fn unblock(visit: Visit) -> PageResult<HttpResponse> {
    change_state(visit, UserCommand::Unblock).await
}

async fn change_state(visit: Visit, command: UserCommand) -> PageResult<HttpResponse> {
    let (viewer, full) = load(&visit).await?;
    let id = full.user.id;
    if viewer.actor().user() == Some(id) {
        let faults = Faults::of_form("you cannot block your own account");
        return Ok(show_user(&visit, &viewer, StatusCode::UNPROCESSABLE_ENTITY, &full, faults));
    }
    let (viewer, changed) = visit
        .submit(move |app, signed_in| block::apply(app, signed_in.actor, id, command).map(drop))
        .await?;
    match changed {
        Ok(()) => {
            let address = format!("/admin/users/{}", full.user.username.as_str());
            Ok(render::see_other_with(&visit, &address, Notice::Saved))
        }
        Err(faults) => {
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            Ok(show_user(&visit, &viewer, status, &full, faults))
        }
    }
}

/// Removes an account, if its name was typed.
async fn remove(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, full) = load(&visit).await?;
    let refused =
        |faults| Ok(show_user(&visit, &viewer, StatusCode::UNPROCESSABLE_ENTITY, &full, faults));
    if visit.form().text("confirmation") != full.user.username.as_str() {
        return refused(Faults::of_field("confirmation", "is not the username"));
    }
    let id = full.user.id;
    if viewer.actor().user() == Some(id) {
        return refused(Faults::of_form("you cannot remove your own account"));
    }
    let (_, deletion) = visit
        .run_signed_in(move |app, signed_in| match user::delete(app, signed_in.actor, id)? {
            Deletion::Missing => Err(Error::NotFound(Entity::User)),
            deletion => Ok(deletion),
        })
        .await?;
    match deletion {
        Deletion::SoleOwner => {
            let why = "the user is the only owner of a group: add another owner first";
            refused(Faults::of_form(why))
        }
        Deletion::Deleted(_) | Deletion::Missing => {
            Ok(render::see_other_with(&visit, "/admin/users", Notice::Removed))
        }
    }
}
