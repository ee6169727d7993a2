//! The webhooks of a project, and what was sent to them.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::delivery;
use hexforge_application::error::{Entity, Error};
use hexforge_application::project::hook::{self, HookFields};
use hexforge_application::project::page::ProjectPage;
use hexforge_domain::delivery::{Delivery, DeliveryState};
use hexforge_domain::id::{DeliveryId, ProjectHookId};
use hexforge_domain::paging::Paged;
use hexforge_domain::project::hook::{HookSwitches, ProjectHook};
use hexforge_domain::text::Secret;

use super::project::other_spelling;
use super::settings::{administered, after_button, frame, to_page};
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::forms::Form;
use crate::frame::{Frame, Pager};
use crate::moment::Moment;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/hooks", list);
    pages.post("/{namespace}/{project}/hooks", add);
    pages.get("/{namespace}/{project}/hooks/{id}", show);
    pages.post("/{namespace}/{project}/hooks/{id}", save);
    pages.post("/{namespace}/{project}/hooks/{id}/test", test);
    pages.post("/{namespace}/{project}/hooks/{id}/remove", remove);
    pages.get("/{namespace}/{project}/hooks/{id}/deliveries/{delivery}", show_delivery);
    pages.post("/{namespace}/{project}/hooks/{id}/deliveries/{delivery}", redeliver);
}

/// A checkbox of an event.
struct Switch {
    name: &'static str,
    label: &'static str,
    is_set: bool,
}

/// The fields of a hook, as the form shows them.
struct HookForm {
    url: String,
    switches: Vec<Switch>,
    verify: bool,
}

impl HookForm {
    fn new(url: &str, events: &HookSwitches, verify: bool) -> Self {
        let switch = |name, label, is_set| Switch { name, label, is_set };
        let switches = vec![
            switch("push_events", "Push events", events.push),
            switch("tag_push_events", "Tag push events", events.tag_push),
            switch("note_events", "Comments", events.note),
            switch("issues_events", "Issues events", events.issues),
            switch("merge_requests_events", "Merge request events", events.merge_requests),
            switch("build_events", "Build events", events.build),
            switch("pipeline_events", "Pipeline events", events.pipeline),
            switch("wiki_page_events", "Wiki page events", events.wiki_page),
        ];
        Self { url: url.to_owned(), switches, verify }
    }

    /// What was typed.
    fn typed(form: &Form) -> Self {
        let events = HookSwitches {
            push: form.is_set("push_events"),
            tag_push: form.is_set("tag_push_events"),
            issues: form.is_set("issues_events"),
            merge_requests: form.is_set("merge_requests_events"),
            note: form.is_set("note_events"),
            build: form.is_set("build_events"),
            pipeline: form.is_set("pipeline_events"),
            wiki_page: form.is_set("wiki_page_events"),
        };
        Self::new(form.text("url"), &events, form.is_set("enable_ssl_verification"))
    }
}

fn fields_of(form: &Form) -> HookFields {
    let is_set = |name: &str| Some(form.is_set(name));
    let token = form.text("token");
    HookFields {
        url: form.text("url").to_owned(),
        token: (!token.is_empty()).then(|| Secret::new(token)),
        push_events: is_set("push_events"),
        tag_push_events: is_set("tag_push_events"),
        issues_events: is_set("issues_events"),
        merge_requests_events: is_set("merge_requests_events"),
        note_events: is_set("note_events"),
        build_events: is_set("build_events"),
        pipeline_events: is_set("pipeline_events"),
        wiki_page_events: is_set("wiki_page_events"),
        enable_ssl_verification: is_set("enable_ssl_verification"),
    }
}

/// A hook in the list. Its URL may contain a password, which is not shown.
struct Row {
    id: i64,
    url: String,
    events: String,
}

#[derive(Template)]
#[template(path = "hooks.html")]
struct HooksPage {
    frame: Frame,
    base: String,
    faults: Faults,
    form: HookForm,
    rows: Vec<Row>,
    pager: Pager,
}

type LoadedList = (ProjectPage, Paged<ProjectHook>);

async fn load_list(visit: &Visit) -> PageResult<(Viewer, LoadedList)> {
    let (named, page) = (visit.project(), visit.page());
    visit
        .run(move |app, viewer| {
            let project = administered(app, viewer.actor(), &named)?;
            Ok((project, hook::list(app, viewer.actor(), &named, page)?))
        })
        .await
}

async fn list(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, loaded) = load_list(&visit).await?;
    if let Some(redirect) = other_spelling(&visit, &loaded.0) {
        return Ok(redirect);
    }
    let form = HookForm::new("", &HookSwitches::default(), true);
    Ok(list_page(&visit, &viewer, StatusCode::OK, loaded, (form, Faults::default())))
}

fn list_page(
    visit: &Visit,
    viewer: &Viewer,
    status: StatusCode,
    (project, hooks): LoadedList,
    (form, faults): (HookForm, Faults),
) -> HttpResponse {
    let row = |hook: &ProjectHook| {
        let form = HookForm::new("", &hook.settings.switches, true);
        let set = form.switches.iter().filter(|switch| switch.is_set);
        Row {
            id: hook.id.0,
            url: hook.settings.url.without_credentials(),
            events: set.map(|switch| switch.label).collect::<Vec<_>>().join(", "),
        }
    };
    let page = HooksPage {
        frame: frame(visit, viewer, &project, "Webhooks"),
        base: format!("/{}", project.path()),
        faults,
        form,
        rows: hooks.items.iter().map(row).collect(),
        pager: Pager::new(visit, hooks.total),
    };
    render::page_with(status, visit, viewer, &page)
}

async fn add(visit: Visit) -> PageResult<HttpResponse> {
    let (named, fields) = (visit.project(), fields_of(visit.form()));
    let (_, made) = visit
        .submit(move |app, signed_in| hook::create(app, signed_in.actor, &named, &fields))
        .await?;
    match made {
        Ok(_) => to_page(&visit, "hooks", Notice::Created),
        Err(faults) => {
            let (viewer, loaded) = load_list(&visit).await?;
            let (status, form) = (StatusCode::UNPROCESSABLE_ENTITY, HookForm::typed(visit.form()));
            Ok(list_page(&visit, &viewer, status, loaded, (form, faults)))
        }
    }
}

/// A delivery in the table.
struct DeliveryRow {
    id: i64,
    event: String,
    state: String,
    tries: u32,
    at: Moment,
}

#[derive(Template)]
#[template(path = "hook.html")]
struct HookPage {
    frame: Frame,
    base: String,
    id: i64,
    url: String,
    has_token: bool,
    faults: Faults,
    form: HookForm,
    trouble: Option<Trouble>,
    rows: Vec<DeliveryRow>,
    pager: Pager,
}

/// What is known about a hook whose last deliveries failed.
struct Trouble {
    /// How many of them failed. There may be more before the ones that are shown.
    count: String,
    is_all: bool,
    since: Moment,
    next: Option<Moment>,
}

impl Trouble {
    /// Looks at the newest deliveries of a hook. Those that were not tried yet say nothing.
    fn find(newest: &[Delivery], has_more: bool, frame: &Frame) -> Option<Self> {
        let failed: Vec<&Delivery> = newest
            .iter()
            .filter(|delivery| delivery.tries > 0)
            .take_while(|delivery| delivery.state != DeliveryState::Delivered)
            .collect();
        let oldest = failed.last()?;
        let due = failed.iter().filter_map(|delivery| match delivery.state {
            DeliveryState::Pending { due } => Some(due),
            DeliveryState::Delivered | DeliveryState::Failed | DeliveryState::GivenUp => None,
        });
        let is_last = newest.last().is_some_and(|last| last.id == oldest.id);
        Some(Self {
            count: match failed.len() {
                1 => "The last delivery".to_owned(),
                count => format!("The last {count} deliveries"),
            },
            is_all: !(is_last && has_more),
            since: frame.moment(oldest.created_at),
            next: due.min().map(|due| frame.moment(due)),
        })
    }
}

type Loaded = (ProjectPage, ProjectHook, Paged<Delivery>);

async fn load(visit: &Visit) -> PageResult<(Viewer, Loaded)> {
    let (named, page, id) = (visit.project(), visit.page(), ProjectHookId(visit.id("id")));
    visit
        .run(move |app, viewer| {
            let project = administered(app, viewer.actor(), &named)?;
            let hook = hook::get(app, viewer.actor(), &named, id)?;
            let sent = hook::deliveries(app, viewer.actor(), &named, id, page)?;
            Ok((project, hook, sent))
        })
        .await
}

async fn show(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, loaded) = load(&visit).await?;
    if let Some(redirect) = other_spelling(&visit, &loaded.0) {
        return Ok(redirect);
    }
    let settings = &loaded.1.settings;
    let verify = settings.enable_ssl_verification;
    let form = HookForm::new(settings.url.as_str(), &settings.switches, verify);
    Ok(page(&visit, &viewer, StatusCode::OK, loaded, (form, Faults::default())))
}

/// The state of a delivery, with the status that was answered.
fn state_text(delivery: &Delivery) -> String {
    let state = match delivery.state {
        DeliveryState::Pending { .. } => "pending",
        DeliveryState::Delivered => "delivered",
        DeliveryState::Failed => "failed",
        DeliveryState::GivenUp => "given up",
    };
    match delivery.last.as_ref().and_then(|attempt| attempt.status) {
        Some(status) => format!("{state} ({status})"),
        None => state.to_owned(),
    }
}

fn page(
    visit: &Visit,
    viewer: &Viewer,
    status: StatusCode,
    (project, hook, sent): Loaded,
    (form, faults): (HookForm, Faults),
) -> HttpResponse {
    let frame = frame(visit, viewer, &project, "Webhook");
    let row = |delivery: &Delivery| DeliveryRow {
        id: delivery.id.0,
        event: delivery.event.clone(),
        state: state_text(delivery),
        tries: delivery.tries,
        at: frame.moment(delivery.created_at),
    };
    let asked = visit.page();
    let is_newest = asked.offset() == 0;
    let has_more = sent.total > sent.items.len() as u64;
    let page = HookPage {
        trouble: if is_newest { Trouble::find(&sent.items, has_more, &frame) } else { None },
        base: format!("/{}", project.path()),
        id: hook.id.0,
        url: hook.settings.url.without_credentials(),
        has_token: hook.settings.token.is_some(),
        faults,
        form,
        rows: sent.items.iter().map(row).collect(),
        pager: Pager::new(visit, sent.total),
        frame,
    };
    render::page_with(status, visit, viewer, &page)
}

/// Shows the page of the hook again, with what is wrong.
async fn show_again(
    visit: &Visit,
    form: Option<HookForm>,
    faults: Faults,
) -> PageResult<HttpResponse> {
    let (viewer, loaded) = load(visit).await?;
    let settings = &loaded.1.settings;
    let verify = settings.enable_ssl_verification;
    let stored = || HookForm::new(settings.url.as_str(), &settings.switches, verify);
    let form = form.unwrap_or_else(stored);
    Ok(page(visit, &viewer, StatusCode::UNPROCESSABLE_ENTITY, loaded, (form, faults)))
}

async fn save(visit: Visit) -> PageResult<HttpResponse> {
    let (named, id) = (visit.project(), ProjectHookId(visit.id("id")));
    let (fields, payloads) = (fields_of(visit.form()), visit.payloads());
    let (_, saved) = visit
        .submit(move |app, signed_in| {
            administered(app, signed_in.actor, &named)?;
            // Events before the change are sent by the settings of their time.
            delivery::catch_up(app, &*payloads)?;
            hook::update(app, signed_in.actor, &named, id, &fields)
        })
        .await?;
    match saved {
        Ok(_) => to_page(&visit, &format!("hooks/{id}"), Notice::Saved),
        Err(faults) => show_again(&visit, Some(HookForm::typed(visit.form())), faults).await,
    }
}

async fn test(visit: Visit) -> PageResult<HttpResponse> {
    let (named, id, payloads) = (visit.project(), ProjectHookId(visit.id("id")), visit.payloads());
    let (_, sent) = visit
        .submit(move |app, signed_in| hook::test(app, signed_in.actor, &named, id, &*payloads))
        .await?;
    match sent {
        Ok(()) => to_page(&visit, &format!("hooks/{id}"), Notice::Queued),
        Err(faults) => show_again(&visit, None, faults).await,
    }
}

async fn remove(visit: Visit) -> PageResult<HttpResponse> {
    let (named, id) = (visit.project(), ProjectHookId(visit.id("id")));
    let (_, removed) = visit
        .submit(move |app, signed_in| {
            let removed = hook::delete(app, signed_in.actor, &named, id)?;
            removed.map(drop).ok_or(Error::NotFound(Entity::Record))
        })
        .await?;
    after_button(&visit, "hooks", removed, Notice::Removed)
}

#[derive(Template)]
#[template(path = "delivery.html")]
struct DeliveryPage {
    frame: Frame,
    base: String,
    hook: i64,
    id: i64,
    event: String,
    key: String,
    state: String,
    tries: u32,
    created: Moment,
    next: Option<Moment>,
    body: String,
    is_cut: bool,
    last: Option<AttemptShown>,
}

/// The last attempt of a delivery.
struct AttemptShown {
    at: Moment,
    url: String,
    millis: u32,
    status: Option<u16>,
    answer: Option<String>,
    error: Option<String>,
}

/// The hook and the delivery in the address.
fn ids(visit: &Visit) -> (ProjectHookId, DeliveryId) {
    (ProjectHookId(visit.id("id")), DeliveryId(visit.id("delivery")))
}

async fn show_delivery(visit: Visit) -> PageResult<HttpResponse> {
    let (named, (hook, id)) = (visit.project(), ids(&visit));
    let (viewer, (project, delivery)) = visit
        .run(move |app, viewer| {
            let project = administered(app, viewer.actor(), &named)?;
            Ok((project, hook::delivery(app, viewer.actor(), &named, hook, id)?))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let frame = frame(&visit, &viewer, &project, "Delivery");
    let (state, next) = (state_text(&delivery), delivery.state.due());
    let page = DeliveryPage {
        base: format!("/{}", project.path()),
        hook: hook.0,
        id: id.0,
        event: delivery.event,
        key: delivery.key.as_str().to_owned(),
        state,
        tries: delivery.tries,
        created: frame.moment(delivery.created_at),
        next: next.map(|due| frame.moment(due)),
        body: delivery.body.0,
        is_cut: delivery.body.1,
        last: delivery.last.map(|attempt| AttemptShown {
            at: frame.moment(attempt.at),
            url: attempt.url,
            millis: attempt.millis,
            status: attempt.status,
            answer: attempt.answer,
            error: attempt.error,
        }),
        frame,
    };
    render::page(&visit, &viewer, &page)
}

async fn redeliver(visit: Visit) -> PageResult<HttpResponse> {
    let (named, (hook, id)) = (visit.project(), ids(&visit));
    let (_, done) = visit
        .submit(move |app, signed_in| hook::retry(app, signed_in.actor, &named, hook, id).map(drop))
        .await?;
    after_button(&visit, &format!("hooks/{hook}/deliveries/{id}"), done, Notice::Queued)
}
