//! The system hooks.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::system_hook::{self, SystemHookFields};
use hexforge_domain::id::SystemHookId;
use hexforge_domain::system_hook::SystemHook;
use hexforge_domain::text::Secret;

use super::frame_of;
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::frame::{Frame, Pager};
use crate::render;
use crate::table::Pages;
use crate::visit::Visit;

const HOOKS: &str = "/admin/hooks";

pub(super) fn declare(pages: &mut Pages) {
    pages.get(HOOKS, list);
    pages.post(HOOKS, create);
    pages.post("/admin/hooks/{id}/test", test);
    pages.post("/admin/hooks/{id}/remove", remove);
}

struct Row {
    id: SystemHookId,
    url: String,
    options: String,
}

impl Row {
    fn new(hook: &SystemHook) -> Self {
        let settings = &hook.settings;
        let options = [
            ("Push events", settings.push_events),
            ("Tag push events", settings.tag_push_events),
            ("SSL verification", settings.enable_ssl_verification),
        ];
        let options = options.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name);
        let options = options.collect::<Vec<_>>().join(", ");
        Self { id: hook.id, url: settings.url.without_credentials(), options }
    }
}

#[derive(Template)]
#[template(path = "admin/hooks.html")]
struct HooksPage {
    frame: Frame,
    faults: Faults,
    rows: Vec<Row>,
    pager: Pager,
    url: String,
    push_events: bool,
    tag_push_events: bool,
    enable_ssl_verification: bool,
}

async fn list(visit: Visit) -> PageResult<HttpResponse> {
    show_list(&visit, StatusCode::OK, Faults::default()).await
}

async fn show_list(visit: &Visit, status: StatusCode, faults: Faults) -> PageResult<HttpResponse> {
    let page = visit.page();
    let (viewer, hooks) =
        visit.run(move |app, viewer| system_hook::list(app, viewer.actor(), page)).await?;
    let form = visit.form();
    let was_sent = form.given("url").is_some();
    let page = HooksPage {
        frame: frame_of(visit, &viewer, "System hooks"),
        faults,
        rows: hooks.items.iter().map(Row::new).collect(),
        pager: Pager::new(visit, hooks.total),
        url: form.raw("url").to_owned(),
        push_events: !was_sent || form.is_set("push_events"),
        tag_push_events: form.is_set("tag_push_events"),
        enable_ssl_verification: !was_sent || form.is_set("enable_ssl_verification"),
    };
    Ok(render::page_with(status, visit, &viewer, &page))
}

async fn create(visit: Visit) -> PageResult<HttpResponse> {
    let form = visit.form();
    let token = form.text("token");
    let fields = SystemHookFields {
        url: form.text("url").to_owned(),
        token: (!token.is_empty()).then(|| Secret::new(token.to_owned())),
        push_events: Some(form.is_set("push_events")),
        tag_push_events: Some(form.is_set("tag_push_events")),
        enable_ssl_verification: Some(form.is_set("enable_ssl_verification")),
    };
    let (_, created) = visit
        .submit(move |app, signed_in| system_hook::create(app, signed_in.actor, &fields).map(drop))
        .await?;
    match created {
        Ok(()) => Ok(render::see_other_with(&visit, HOOKS, Notice::Created)),
        Err(faults) => show_list(&visit, StatusCode::UNPROCESSABLE_ENTITY, faults).await,
    }
}

/// Sends a sample to the hook, and ignores the answer.
async fn test(visit: Visit) -> PageResult<HttpResponse> {
    let (id, payloads) = (SystemHookId(visit.id("id")), visit.payloads());
    visit
        .run_signed_in(move |app, signed_in| {
            system_hook::authorize(signed_in.actor)?;
            system_hook::test(app, signed_in.actor, id, &payloads.sample_json())
        })
        .await?;
    Ok(render::see_other_with(&visit, HOOKS, Notice::Sent))
}

async fn remove(visit: Visit) -> PageResult<HttpResponse> {
    let id = SystemHookId(visit.id("id"));
    visit
        .run_signed_in(move |app, signed_in| system_hook::delete(app, signed_in.actor, id))
        .await?;
    Ok(render::see_other_with(&visit, HOOKS, Notice::Removed))
}
