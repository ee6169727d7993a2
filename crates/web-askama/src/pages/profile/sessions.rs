//! The own sessions in browsers.

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::browser_session;
use hexforge_domain::browser_session::BrowserSession;
use hexforge_domain::id::BrowserSessionId;

use crate::cookies::Notice;
use crate::error::PageResult;
use crate::frame::{Frame, Pager};
use crate::moment::Moment;
use crate::render;
use crate::table::Pages;
use crate::visit::Visit;

const SESSIONS: &str = "/profile/audit_log";

pub(super) fn declare(pages: &mut Pages) {
    pages.get(SESSIONS, list);
    pages.post("/profile/audit_log/{id}/revoke", revoke);
}

struct Row {
    id: BrowserSessionId,
    browser: String,
    address: String,
    signed_in: Moment,
    used: Moment,
    is_present: bool,
}

#[derive(Template)]
#[template(path = "profile/sessions.html")]
struct SessionsPage {
    frame: Frame,
    rows: Vec<Row>,
    pager: Pager,
}

async fn list(visit: Visit) -> PageResult<HttpResponse> {
    let page = visit.page();
    let (viewer, sessions) = visit
        .run_signed_in(move |app, signed_in| browser_session::list(app, signed_in.actor, page))
        .await?;
    let frame = Frame::new(&visit, &viewer, "Sessions");
    let present = viewer.signed_in().map(|signed_in| signed_in.session.id);
    let row = |session: &BrowserSession| Row {
        id: session.id,
        browser: match session.browser.as_str() {
            "" => "Unknown browser".to_owned(),
            browser => browser.to_owned(),
        },
        address: session.address.map_or_else(String::new, |address| address.to_string()),
        signed_in: frame.moment(session.created_at),
        used: frame.moment(session.last_used_at),
        is_present: present == Some(session.id),
    };
    let page = SessionsPage {
        rows: sessions.items.iter().map(row).collect(),
        pager: Pager::new(&visit, sessions.total),
        frame,
    };
    render::page(&visit, &viewer, &page)
}

async fn revoke(visit: Visit) -> PageResult<HttpResponse> {
    let id = BrowserSessionId(visit.id("id"));
    visit
        .run_signed_in(move |app, signed_in| browser_session::revoke(app, signed_in.actor, id))
        .await?;
    Ok(render::see_other_with(&visit, SESSIONS, Notice::Removed))
}
