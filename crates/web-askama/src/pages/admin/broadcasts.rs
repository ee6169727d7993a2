//! The messages of administrators to everybody.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use chrono::NaiveDateTime;
use hexforge_application::broadcast::{self, BroadcastView};
use hexforge_domain::Timestamp;
use hexforge_domain::broadcast::BroadcastFields;
use hexforge_domain::id::BroadcastId;

use super::frame_of;
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::frame::{Frame, Pager};
use crate::moment::Moment;
use crate::render;
use crate::table::Pages;
use crate::visit::Visit;

const MESSAGES: &str = "/admin/broadcast_messages";

pub(super) fn declare(pages: &mut Pages) {
    pages.get(MESSAGES, list);
    pages.post(MESSAGES, create);
    pages.post("/admin/broadcast_messages/{id}/remove", remove);
}

struct Row {
    id: BroadcastId,
    message: String,
    is_active: bool,
    starts: Moment,
    ends: Moment,
}

#[derive(Template)]
#[template(path = "admin/broadcasts.html")]
struct BroadcastsPage {
    frame: Frame,
    faults: Faults,
    rows: Vec<Row>,
    pager: Pager,
    message: String,
    starts_at: String,
    ends_at: String,
}

async fn list(visit: Visit) -> PageResult<HttpResponse> {
    show_list(&visit, StatusCode::OK, Faults::default()).await
}

async fn show_list(visit: &Visit, status: StatusCode, faults: Faults) -> PageResult<HttpResponse> {
    let page = visit.page();
    let (viewer, messages) =
        visit.run(move |app, viewer| broadcast::list(app, viewer.actor(), page)).await?;
    let frame = frame_of(visit, &viewer, "Messages");
    let row = |BroadcastView { broadcast, active }: BroadcastView| Row {
        id: broadcast.id,
        message: broadcast.content.message.as_str().to_owned(),
        is_active: active,
        starts: frame.moment(broadcast.content.starts_at),
        ends: frame.moment(broadcast.content.ends_at),
    };
    let form = visit.form();
    let page = BroadcastsPage {
        faults,
        pager: Pager::new(visit, messages.total),
        rows: messages.items.into_iter().map(row).collect(),
        message: form.raw("message").to_owned(),
        starts_at: form.raw("starts_at").to_owned(),
        ends_at: form.raw("ends_at").to_owned(),
        frame,
    };
    Ok(render::page_with(status, visit, &viewer, &page))
}

/// Parses the value of a field for date and time, in UTC.
fn moment(faults: &mut Faults, name: &str, text: &str) -> Option<Timestamp> {
    if text.is_empty() {
        return None;
    }
    let formats = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"];
    let parsed = formats.iter().find_map(|f| NaiveDateTime::parse_from_str(text, f).ok());
    if parsed.is_none() {
        faults.add(name, "is not a time: write 2030-12-31T23:59");
    }
    parsed.map(|moment| moment.and_utc())
}

async fn create(visit: Visit) -> PageResult<HttpResponse> {
    let (form, mut faults) = (visit.form(), Faults::default());
    let fields = BroadcastFields {
        message: Some(form.text("message").to_owned()),
        starts_at: moment(&mut faults, "starts_at", form.text("starts_at")),
        ends_at: moment(&mut faults, "ends_at", form.text("ends_at")),
        ..BroadcastFields::default()
    };
    if !faults.is_empty() {
        return show_list(&visit, StatusCode::UNPROCESSABLE_ENTITY, faults).await;
    }
    let (_, created) = visit
        .submit(move |app, signed_in| broadcast::create(app, signed_in.actor, &fields).map(drop))
        .await?;
    match created {
        Ok(()) => Ok(render::see_other_with(&visit, MESSAGES, Notice::Created)),
        Err(faults) => show_list(&visit, StatusCode::UNPROCESSABLE_ENTITY, faults).await,
    }
}

async fn remove(visit: Visit) -> PageResult<HttpResponse> {
    let id = BroadcastId(visit.id("id"));
    visit.run_signed_in(move |app, signed_in| broadcast::delete(app, signed_in.actor, id)).await?;
    Ok(render::see_other_with(&visit, MESSAGES, Notice::Removed))
}
