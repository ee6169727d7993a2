//! The messages of administrators to everybody.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use chrono::NaiveDateTime;
use hexforge_application::broadcast::{self, BroadcastView};
use hexforge_domain::Timestamp;
use hexforge_domain::broadcast::{BroadcastContent, BroadcastFields};
use hexforge_domain::id::BroadcastId;

use super::frame_of;
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::forms::Form;
use crate::frame::{Frame, Pager};
use crate::moment::Moment;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

const MESSAGES: &str = "/admin/broadcast_messages";

pub(super) fn declare(pages: &mut Pages) {
    pages.get(MESSAGES, list);
    pages.post(MESSAGES, create);
    pages.get("/admin/broadcast_messages/{id}/edit", edit);
    pages.post("/admin/broadcast_messages/{id}/edit", change);
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
    form: MessageForm,
}

/// The fields of a message, as the forms show them.
struct MessageForm {
    message: String,
    starts_at: String,
    ends_at: String,
    color: String,
    font: String,
}

impl MessageForm {
    /// What was typed; colors have the defaults of new messages.
    fn typed(form: &Form) -> Self {
        let text = |name: &str, default: &str| form.given(name).unwrap_or(default).to_owned();
        Self {
            message: form.raw("message").to_owned(),
            starts_at: text("starts_at", ""),
            ends_at: text("ends_at", ""),
            color: text("color", "#E75E40"),
            font: text("font", "#FFFFFF"),
        }
    }

    fn stored(content: &BroadcastContent) -> Self {
        let time = |at: Timestamp| at.format("%Y-%m-%dT%H:%M:%S").to_string();
        Self {
            message: content.message.as_str().to_owned(),
            starts_at: time(content.starts_at),
            ends_at: time(content.ends_at),
            color: content.color.as_str().to_owned(),
            font: content.font.as_str().to_owned(),
        }
    }
}

/// The fields of the form; those that are empty are not given.
fn fields(form: &Form, faults: &mut Faults) -> BroadcastFields {
    let given = |name: &str| form.given(name).filter(|text| !text.is_empty()).map(str::to_owned);
    BroadcastFields {
        message: Some(form.text("message").to_owned()),
        starts_at: moment(faults, "starts_at", form.text("starts_at")),
        ends_at: moment(faults, "ends_at", form.text("ends_at")),
        color: given("color"),
        font: given("font"),
    }
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
    let page = BroadcastsPage {
        faults,
        pager: Pager::new(visit, messages.total),
        rows: messages.items.into_iter().map(row).collect(),
        form: MessageForm::typed(visit.form()),
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
    let mut faults = Faults::default();
    let fields = fields(visit.form(), &mut faults);
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

#[derive(Template)]
#[template(path = "admin/broadcast.html")]
struct BroadcastPage {
    frame: Frame,
    faults: Faults,
    id: BroadcastId,
    form: MessageForm,
}

async fn edit(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, content) = load(&visit).await?;
    let form = MessageForm::stored(&content);
    Ok(show(&visit, &viewer, StatusCode::OK, form, Faults::default()))
}

async fn load(visit: &Visit) -> PageResult<(Viewer, BroadcastContent)> {
    let id = BroadcastId(visit.id("id"));
    let (viewer, view) =
        visit.run(move |app, viewer| broadcast::get(app, viewer.actor(), id)).await?;
    Ok((viewer, view.broadcast.content))
}

fn show(
    visit: &Visit,
    viewer: &Viewer,
    status: StatusCode,
    form: MessageForm,
    faults: Faults,
) -> HttpResponse {
    let frame = frame_of(visit, viewer, "Edit message");
    let page = BroadcastPage { frame, faults, id: BroadcastId(visit.id("id")), form };
    render::page_with(status, visit, viewer, &page)
}

async fn change(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, _) = load(&visit).await?;
    let again = |faults| {
        let form = MessageForm::typed(visit.form());
        Ok(show(&visit, &viewer, StatusCode::UNPROCESSABLE_ENTITY, form, faults))
    };
    let (id, mut faults) = (BroadcastId(visit.id("id")), Faults::default());
    let fields = fields(visit.form(), &mut faults);
    if !faults.is_empty() {
        return again(faults);
    }
    let (_, changed) = visit
        .submit(move |app, signed_in| {
            broadcast::update(app, signed_in.actor, id, &fields).map(drop)
        })
        .await?;
    match changed {
        Ok(()) => Ok(render::see_other_with(&visit, MESSAGES, Notice::Saved)),
        Err(faults) => again(faults),
    }
}

async fn remove(visit: Visit) -> PageResult<HttpResponse> {
    let id = BroadcastId(visit.id("id"));
    visit.run_signed_in(move |app, signed_in| broadcast::delete(app, signed_in.actor, id)).await?;
    Ok(render::see_other_with(&visit, MESSAGES, Notice::Removed))
}
