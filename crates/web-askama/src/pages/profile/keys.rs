//! The own SSH keys.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::error::{Entity, Error};
use hexforge_application::user::Owner;
use hexforge_application::user::key::{self, KeyFields};
use hexforge_domain::id::KeyId;
use hexforge_domain::paging::Paged;
use hexforge_domain::user::SshKey;

use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::frame::{Frame, Pager};
use crate::moment::Moment;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

const KEYS: &str = "/profile/keys";

pub(super) fn declare(pages: &mut Pages) {
    pages.get(KEYS, list);
    pages.post(KEYS, add);
    pages.get("/profile/keys/{id}", show);
    pages.post("/profile/keys/{id}/remove", remove);
}

/// A key as the pages show it.
struct Row {
    id: KeyId,
    title: String,
    key: String,
    fingerprint: String,
    created: Moment,
}

impl Row {
    fn new(key: &SshKey, frame: &Frame) -> Self {
        Self {
            id: key.id,
            title: key.title.as_str().to_owned(),
            key: key.key.clone(),
            fingerprint: key.fingerprint.0.clone(),
            created: frame.moment(key.created_at),
        }
    }
}

#[derive(Template)]
#[template(path = "profile/keys.html")]
struct KeysPage {
    frame: Frame,
    faults: Faults,
    rows: Vec<Row>,
    pager: Pager,
    title: String,
    key: String,
}

async fn list(visit: Visit) -> PageResult<HttpResponse> {
    let page = visit.page();
    let (viewer, keys) = visit
        .run_signed_in(move |app, signed_in| key::list(app, signed_in.actor, Owner::Actor, page))
        .await?;
    Ok(show_list(&visit, &viewer, StatusCode::OK, keys, Faults::default()))
}

fn show_list(
    visit: &Visit,
    viewer: &Viewer,
    status: StatusCode,
    keys: Paged<SshKey>,
    faults: Faults,
) -> HttpResponse {
    let frame = Frame::new(visit, viewer, "SSH keys");
    let page = KeysPage {
        rows: keys.items.iter().map(|key| Row::new(key, &frame)).collect(),
        pager: Pager::new(visit, keys.total),
        title: visit.form().raw("title").to_owned(),
        key: visit.form().raw("key").to_owned(),
        frame,
        faults,
    };
    render::page_with(status, visit, viewer, &page)
}

async fn add(visit: Visit) -> PageResult<HttpResponse> {
    let (form, page) = (visit.form(), visit.page());
    let key = form.text("key").to_owned();
    let title = match form.text("title") {
        // The comment of a key names it, unless the user does.
        "" => key.splitn(3, ' ').nth(2).unwrap_or_default().to_owned(),
        title => title.to_owned(),
    };
    let is_untitled = title.is_empty();
    let fields = KeyFields { title: Some(title), key: Some(key) };
    let (viewer, added) = visit
        .submit(move |app, signed_in| {
            if is_untitled {
                return Err(Error::NotGiven("title"));
            }
            key::add(app, signed_in.actor, Owner::Actor, &fields).map(drop)
        })
        .await?;
    let faults = match added {
        Ok(()) => return Ok(render::see_other_with(&visit, KEYS, Notice::Created)),
        Err(faults) => faults,
    };
    let (_, keys) = visit
        .run_signed_in(move |app, signed_in| key::list(app, signed_in.actor, Owner::Actor, page))
        .await?;
    Ok(show_list(&visit, &viewer, StatusCode::UNPROCESSABLE_ENTITY, keys, faults))
}

#[derive(Template)]
#[template(path = "profile/key.html")]
struct KeyPage {
    frame: Frame,
    row: Row,
}

async fn show(visit: Visit) -> PageResult<HttpResponse> {
    let id = KeyId(visit.id("id"));
    let (viewer, key) =
        visit.run_signed_in(move |app, signed_in| key::get(app, signed_in.actor, id)).await?;
    let frame = Frame::new(&visit, &viewer, key.title.as_str());
    let page = KeyPage { row: Row::new(&key, &frame), frame };
    render::page(&visit, &viewer, &page)
}

async fn remove(visit: Visit) -> PageResult<HttpResponse> {
    let id = KeyId(visit.id("id"));
    visit
        .run_signed_in(move |app, signed_in| {
            key::remove_own(app, signed_in.actor, id)?.ok_or(Error::NotFound(Entity::Key))
        })
        .await?;
    Ok(render::see_other_with(&visit, KEYS, Notice::Removed))
}
