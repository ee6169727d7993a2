//! The notification settings for everything, and those for a group or project.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::app::App;
use hexforge_application::browser_session::SignedIn;
use hexforge_application::error::Error;
use hexforge_application::notification::{
    self, NotificationFields, NotificationTarget, NotificationView,
};
use hexforge_application::user::{Owner, email};
use hexforge_domain::group::GroupRef;
use hexforge_domain::notification::{NotificationEvent, NotificationLevel};
use hexforge_domain::paging::Page;
use hexforge_domain::project::ProjectRef;

use crate::address;
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::forms::Choice;
use crate::frame::Frame;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

const NOTIFICATIONS: &str = "/profile/notifications";

/// The maximum number of addresses to choose from.
const ADDRESSES: u64 = 100;

pub(super) fn declare(pages: &mut Pages) {
    pages.get(NOTIFICATIONS, edit);
    pages.post(NOTIFICATIONS, change);
}

#[derive(Template)]
#[template(path = "profile/notifications.html")]
struct NotificationsPage {
    frame: Frame,
    faults: Faults,
    /// The path of the group or project; empty for everything.
    of: String,
    addresses: Vec<Choice>,
    levels: Vec<Choice>,
    events: Vec<Choice>,
}

/// The settings, and the addresses of the user.
struct Settings {
    view: NotificationView,
    addresses: Vec<String>,
}

/// The path of the group or project in the address or in the form; empty for everything.
fn target_path(visit: &Visit) -> String {
    let path = visit.form().given("of").or(visit.query("of")).unwrap_or_default();
    path.trim_matches('/').to_owned()
}

fn target_of(path: &str) -> NotificationTarget {
    match path.split_once('/') {
        Some((namespace, project)) => {
            let (namespace, path) = (namespace.to_owned(), project.to_owned());
            NotificationTarget::Project(ProjectRef::Path { namespace, path })
        }
        None if path.is_empty() => NotificationTarget::Global,
        None => NotificationTarget::Group(GroupRef::new(path)),
    }
}

async fn edit(visit: Visit) -> PageResult<HttpResponse> {
    let target = target_of(&target_path(&visit));
    let (viewer, settings) =
        visit.run_signed_in(move |app, signed_in| load(app, signed_in, &target)).await?;
    Ok(show(&visit, &viewer, StatusCode::OK, &settings, Faults::default()))
}

fn load(app: &App, signed_in: &SignedIn, target: &NotificationTarget) -> Result<Settings, Error> {
    let view = notification::get(app, signed_in.actor, target)?;
    let page = Page::Numbered { number: 1, size: ADDRESSES };
    let others = email::list(app, signed_in.actor, Owner::Actor, page)?;
    let others = others.items.into_iter().map(|email| email.address.as_str().to_owned());
    let primary = signed_in.user.email.as_str().to_owned();
    Ok(Settings { view, addresses: [primary].into_iter().chain(others).collect() })
}

fn show(
    visit: &Visit,
    viewer: &Viewer,
    status: StatusCode,
    settings: &Settings,
    faults: Faults,
) -> HttpResponse {
    let (setting, form) = (&settings.view.setting, visit.form());
    let is_global = target_path(visit).is_empty();
    let was_sent = form.given("level").is_some();
    let level = form.given("level").unwrap_or(setting.level.as_str());
    let stored = settings.view.address.as_ref().map_or("", |address| address.as_str());
    let address = form.given("notification_email").unwrap_or(stored);
    let is_wanted = |event: NotificationEvent| match was_sent {
        true => form.all("events").any(|value| value == number(event)),
        false => setting.events.contains(event),
    };
    let page = NotificationsPage {
        frame: Frame::new(visit, viewer, "Notifications"),
        faults,
        of: target_path(visit),
        addresses: (settings.addresses.iter())
            .map(|known| Choice::new(known, known, known == address))
            .collect(),
        levels: LEVELS
            .into_iter()
            .filter(|(known, _)| !is_global || *known != NotificationLevel::Global)
            .map(|(known, label)| Choice::new(known.as_str(), label, known.as_str() == level))
            .collect(),
        events: NotificationEvent::ALL
            .map(|event| Choice::new(number(event), label_of(event), is_wanted(event)))
            .into(),
    };
    render::page_with(status, visit, viewer, &page)
}

/// The levels to choose from. The first one is for groups and projects only.
const LEVELS: [(NotificationLevel, &str); 6] = [
    (NotificationLevel::Global, "Global"),
    (NotificationLevel::Disabled, "Disabled"),
    (NotificationLevel::Participating, "Participating"),
    (NotificationLevel::Watch, "Watch"),
    (NotificationLevel::Mention, "On mention"),
    (NotificationLevel::Custom, "Custom"),
];

/// The value of a checkbox.
fn number(event: NotificationEvent) -> String {
    (event as i32).to_string()
}

fn label_of(event: NotificationEvent) -> &'static str {
    match event {
        NotificationEvent::NewNote => "New comment",
        NotificationEvent::NewIssue => "New issue",
        NotificationEvent::ReopenIssue => "Issue reopened",
        NotificationEvent::CloseIssue => "Issue closed",
        NotificationEvent::ReassignIssue => "Issue reassigned",
        NotificationEvent::NewMergeRequest => "New merge request",
        NotificationEvent::ReopenMergeRequest => "Merge request reopened",
        NotificationEvent::CloseMergeRequest => "Merge request closed",
        NotificationEvent::ReassignMergeRequest => "Merge request reassigned",
        NotificationEvent::MergeMergeRequest => "Merge request merged",
        NotificationEvent::FailedPipeline => "Pipeline failed",
        NotificationEvent::SuccessPipeline => "Pipeline succeeded",
    }
}

async fn change(visit: Visit) -> PageResult<HttpResponse> {
    let (form, path) = (visit.form(), target_path(&visit));
    let given = |name: &str| form.given(name).map(str::to_owned);
    let chosen: Vec<String> = form.all("events").map(str::to_owned).collect();
    let fields = NotificationFields {
        level: given("level"),
        events: NotificationEvent::ALL.map(|event| (event, chosen.contains(&number(event)))).into(),
        address: given("notification_email").filter(|_| path.is_empty()),
    };
    let target = target_of(&path);
    let again = target.clone();
    let (viewer, changed) = visit
        .submit(move |app, signed_in| {
            notification::update(app, signed_in.actor, &target, fields.clone()).map(drop)
        })
        .await?;
    let faults = match changed {
        Ok(()) => {
            let address = match path.as_str() {
                "" => NOTIFICATIONS.to_owned(),
                path => format!("{NOTIFICATIONS}?of={}", address::value(path)),
            };
            return Ok(render::see_other_with(&visit, &address, Notice::Saved));
        }
        Err(faults) => faults,
    };
    let (_, settings) =
        visit.run_signed_in(move |app, signed_in| load(app, signed_in, &again)).await?;
    Ok(show(&visit, &viewer, StatusCode::UNPROCESSABLE_ENTITY, &settings, faults))
}
