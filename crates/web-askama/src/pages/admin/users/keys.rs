//! The SSH keys and e-mail addresses of a user, which administrators add and remove.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::user::key::{self, KeyFields};
use hexforge_application::user::{self, Owner, email};
use hexforge_application::view::user::FullUser;
use hexforge_domain::id::{EmailId, KeyId, UserId};
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::user::{Email, SshKey};

use super::super::frame_of;
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::frame::Frame;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

/// The maximum number of keys, and of addresses, on the page.
const SHOWN: u64 = 100;

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/admin/users/{username}/keys", list);
    pages.post("/admin/users/{username}/keys", add_key);
    pages.post("/admin/users/{username}/keys/{id}/remove", remove_key);
    pages.post("/admin/users/{username}/emails", add_email);
    pages.post("/admin/users/{username}/emails/{id}/remove", remove_email);
}

#[derive(Template)]
#[template(path = "admin/user_keys.html")]
struct KeysPage {
    frame: Frame,
    username: String,
    primary: String,
    keys: Vec<SshKey>,
    emails: Vec<Email>,
    key_faults: Faults,
    email_faults: Faults,
    title: String,
    key: String,
    email: String,
}

/// The user, with keys and addresses.
type Loaded = (FullUser, Vec<SshKey>, Vec<Email>);

fn find(app: &App, actor: Actor, username: &str) -> Result<Loaded, Error> {
    let full = user::find_by_username(app, actor, username)?;
    let (owner, page) = (Owner::User(full.user.id), Page::Numbered { number: 1, size: SHOWN });
    let keys = key::list(app, actor, owner, page)?.items;
    Ok((full, keys, email::list(app, actor, owner, page)?.items))
}

async fn load(visit: &Visit) -> PageResult<(Viewer, Loaded)> {
    let username = visit.param("username");
    visit.run(move |app, viewer| find(app, viewer.actor(), &username)).await
}

/// The faults of the two forms.
#[derive(Default)]
struct AllFaults {
    key: Faults,
    email: Faults,
}

async fn list(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, loaded) = load(&visit).await?;
    Ok(show(&visit, &viewer, StatusCode::OK, loaded, AllFaults::default()))
}

fn show(
    visit: &Visit,
    viewer: &Viewer,
    status: StatusCode,
    (full, keys, emails): Loaded,
    faults: AllFaults,
) -> HttpResponse {
    let form = visit.form();
    let page = KeysPage {
        frame: frame_of(visit, viewer, "Keys and emails"),
        username: full.user.username.as_str().to_owned(),
        primary: full.user.email.as_str().to_owned(),
        keys,
        emails,
        key_faults: faults.key,
        email_faults: faults.email,
        title: form.raw("title").to_owned(),
        key: form.raw("key").to_owned(),
        email: form.raw("email").to_owned(),
    };
    render::page_with(status, visit, viewer, &page)
}

async fn again(visit: &Visit, faults: AllFaults) -> PageResult<HttpResponse> {
    let (viewer, loaded) = load(visit).await?;
    Ok(show(visit, &viewer, StatusCode::UNPROCESSABLE_ENTITY, loaded, faults))
}

fn back(visit: &Visit, full: &FullUser, notice: Notice) -> HttpResponse {
    let address = format!("/admin/users/{}/keys", full.user.username.as_str());
    render::see_other_with(visit, &address, notice)
}

async fn add_key(visit: Visit) -> PageResult<HttpResponse> {
    let (_, (full, ..)) = load(&visit).await?;
    let (owner, form) = (Owner::User(full.user.id), visit.form());
    let fields = KeyFields {
        title: Some(form.text("title").to_owned()),
        key: Some(form.text("key").to_owned()),
    };
    let (_, added) = visit
        .submit(move |app, signed_in| key::add(app, signed_in.actor, owner, &fields).map(drop))
        .await?;
    match added {
        Ok(()) => Ok(back(&visit, &full, Notice::Created)),
        Err(key) => again(&visit, AllFaults { key, ..AllFaults::default() }).await,
    }
}

async fn add_email(visit: Visit) -> PageResult<HttpResponse> {
    let (_, (full, ..)) = load(&visit).await?;
    let (owner, address) = (Owner::User(full.user.id), visit.form().text("email").to_owned());
    let (_, added) = visit
        .submit(move |app, signed_in| {
            email::add(app, signed_in.actor, owner, Some(&address)).map(drop)
        })
        .await?;
    match added {
        Ok(()) => Ok(back(&visit, &full, Notice::Created)),
        Err(email) => again(&visit, AllFaults { email, ..AllFaults::default() }).await,
    }
}

async fn remove_key(visit: Visit) -> PageResult<HttpResponse> {
    let id = KeyId(visit.id("id"));
    remove(visit, move |app, actor, user| key::remove_of(app, actor, user, id).map(drop)).await
}

async fn remove_email(visit: Visit) -> PageResult<HttpResponse> {
    let id = EmailId(visit.id("id"));
    remove(visit, move |app, actor, user| email::remove_of(app, actor, user, id).map(drop)).await
}

async fn remove(
    visit: Visit,
    remove: impl Fn(&App, Actor, UserId) -> Result<(), Error> + Send + 'static,
) -> PageResult<HttpResponse> {
    let (_, (full, ..)) = load(&visit).await?;
    let user = full.user.id;
    visit.run_signed_in(move |app, signed_in| remove(app, signed_in.actor, user)).await?;
    Ok(back(&visit, &full, Notice::Removed))
}
