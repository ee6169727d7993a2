//! The services of a project: connections to other systems.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::delivery;
use hexforge_application::error::{Entity, Error};
use hexforge_application::project::page::ProjectPage;
use hexforge_application::service::{self, ServiceView};
use hexforge_domain::service::{Properties, Property, PropertyValue, ServiceKind};

use super::super::project::other_spelling;
use super::{administered, after_button, frame, to_page};
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::forms::Form;
use crate::frame::Frame;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/services", list);
    pages.get("/{namespace}/{project}/services/{name}", show);
    pages.post("/{namespace}/{project}/services/{name}", save);
    pages.post("/{namespace}/{project}/services/{name}/disable", disable);
}

#[derive(Template)]
#[template(path = "services.html")]
struct ServicesPage {
    frame: Frame,
    base: String,
    /// The names and titles of all kinds.
    kinds: Vec<(&'static str, &'static str)>,
}

async fn list(visit: Visit) -> PageResult<HttpResponse> {
    let named = visit.project();
    let (viewer, project) =
        visit.run(move |app, viewer| administered(app, viewer.actor(), &named)).await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let page = ServicesPage {
        frame: frame(&visit, &viewer, &project, "Services"),
        base: format!("/{}", project.path()),
        kinds: ServiceKind::all().map(|kind| (kind.name(), kind.title())).collect(),
    };
    render::page(&visit, &viewer, &page)
}

/// A property in the form.
struct Field {
    name: &'static str,
    label: String,
    value: String,
    is_switch: bool,
    is_set: bool,
    is_secret: bool,
}

#[derive(Template)]
#[template(path = "service.html")]
struct ServicePage {
    frame: Frame,
    base: String,
    name: &'static str,
    title: &'static str,
    is_active: bool,
    faults: Faults,
    fields: Vec<Field>,
}

type Loaded = (ProjectPage, ServiceView);

fn parse_kind(name: &str) -> Result<ServiceKind, Error> {
    ServiceKind::parse(name).ok_or(Error::NotFound(Entity::Service))
}

async fn load(visit: &Visit) -> PageResult<(Viewer, Loaded)> {
    let (named, name) = (visit.project(), visit.param("name"));
    visit
        .run(move |app, viewer| {
            let project = administered(app, viewer.actor(), &named)?;
            Ok((project, service::get(app, viewer.actor(), &named, parse_kind(&name)?)?))
        })
        .await
}

async fn show(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, loaded) = load(&visit).await?;
    if let Some(redirect) = other_spelling(&visit, &loaded.0) {
        return Ok(redirect);
    }
    Ok(page(&visit, &viewer, StatusCode::OK, loaded, Faults::default()))
}

/// Whether a property is shown as a checkbox.
fn is_switch(property: Property) -> bool {
    let name = property.name;
    let switches = [
        "add_pusher",
        "enable_ssl_verification",
        "disable_diffs",
        "send_from_committer_email",
        "colorize_messages",
    ];
    property.is_true_by_default
        || name.starts_with("notify")
        || name.ends_with("_events")
        || switches.contains(&name)
}

/// Whether a property may be a secret. Its value is not shown again.
fn is_secret(property: Property) -> bool {
    let words = ["password", "token", "api_key", "user_key", "webhook"];
    property.hidden || words.iter().any(|word| property.name.contains(word))
}

fn page(
    visit: &Visit,
    viewer: &Viewer,
    status: StatusCode,
    (project, view): Loaded,
    faults: Faults,
) -> HttpResponse {
    let (form, was_sent) = (visit.form(), status != StatusCode::OK);
    let stored = view.service.as_ref().map(|service| &service.properties);
    let field = |property: Property| {
        let name = property.name;
        let value = match was_sent {
            true => form.text(name),
            false => stored.and_then(|stored| stored.text(name)).unwrap_or_default(),
        };
        let default = property.is_true_by_default;
        let is_set = match was_sent {
            true => form.is_set(name),
            false => stored.map_or(default, |stored| stored.is_true(name, default)),
        };
        let is_secret = is_secret(property);
        let value = if is_secret { String::new() } else { value.to_owned() };
        let label = sentence_case(name);
        Field { name, label, value, is_switch: is_switch(property), is_set, is_secret }
    };
    let kind = view.kind;
    let page = ServicePage {
        frame: frame(visit, viewer, &project, kind.title()),
        base: format!("/{}", project.path()),
        name: kind.name(),
        title: kind.title(),
        is_active: view.service.as_ref().is_some_and(|service| service.active),
        faults,
        fields: kind.properties().map(field).collect(),
    };
    render::page_with(status, visit, viewer, &page)
}

/// The label of a property: `project_url` becomes `Project url`.
fn sentence_case(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

fn given(form: &Form, kind: ServiceKind) -> Properties {
    let value = |property: Property| {
        let value = if is_switch(property) {
            PropertyValue::Flag(form.is_set(property.name))
        } else {
            PropertyValue::Text(form.text(property.name).replace('\0', ""))
        };
        (property.name, value)
    };
    Properties::given(kind, kind.properties().map(value).collect())
}

async fn save(visit: Visit) -> PageResult<HttpResponse> {
    let (named, name) = (visit.project(), visit.param("name"));
    let (form, payloads) = (visit.form().clone(), visit.payloads());
    let (_, saved) = visit
        .submit(move |app, signed_in| {
            administered(app, signed_in.actor, &named)?;
            let kind = parse_kind(&name)?;
            // Events before the change are sent by the settings of their time.
            delivery::catch_up(app, &*payloads)?;
            service::set(app, signed_in.actor, &named, kind, given(&form, kind))
        })
        .await?;
    match saved {
        Ok(()) => to_page(&visit, &format!("services/{}", visit.param("name")), Notice::Saved),
        Err(faults) => {
            let (viewer, loaded) = load(&visit).await?;
            Ok(page(&visit, &viewer, StatusCode::UNPROCESSABLE_ENTITY, loaded, faults))
        }
    }
}

async fn disable(visit: Visit) -> PageResult<HttpResponse> {
    let (named, name) = (visit.project(), visit.param("name"));
    let (_, done) = visit
        .submit(move |app, signed_in| {
            service::clear(app, signed_in.actor, &named, parse_kind(&name)?)
        })
        .await?;
    after_button(&visit, &format!("services/{}", visit.param("name")), done, Notice::Saved)
}
