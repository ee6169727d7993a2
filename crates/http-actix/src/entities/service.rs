//! Services of projects.

use hexforge_application::service::ServiceView;
use hexforge_domain::service::{ProjectService, PropertyValue};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::time::Iso;

/// The settings of a service.
#[derive(Serialize, ToSchema)]
pub struct ServiceJson {
    id: Option<i64>,
    title: String,
    created_at: Option<Iso>,
    updated_at: Option<Iso>,
    active: bool,
    push_events: bool,
    issues_events: bool,
    merge_requests_events: bool,
    tag_push_events: bool,
    note_events: bool,
    build_events: bool,
    pipeline_events: bool,
    /// The properties that were set, or have a default.
    #[schema(value_type = Object)]
    properties: Map<String, Value>,
}

impl From<&ServiceView> for ServiceJson {
    fn from(view: &ServiceView) -> Self {
        let service = view.service.as_ref();
        let title = service.map_or(view.kind.title(), ProjectService::title);
        Self {
            id: service.map(|service| service.id.0),
            title: title.to_owned(),
            created_at: service.map(|service| Iso(service.created_at)),
            updated_at: service.map(|service| Iso(service.updated_at)),
            active: service.is_some_and(|service| service.active),
            push_events: true,
            issues_events: true,
            merge_requests_events: true,
            tag_push_events: true,
            note_events: true,
            build_events: true,
            pipeline_events: true,
            properties: properties(view),
        }
    }
}

/// The properties that the caller sees, in the order of the table.
fn properties(view: &ServiceView) -> Map<String, Value> {
    let stored = |name: &str| view.service.as_ref().and_then(|one| one.properties.get(name));
    let seen = view.kind.properties().filter(|property| view.shows_hidden || !property.hidden);
    let shown = seen.filter_map(|property| {
        let value = match stored(property.name) {
            Some(value) => value.map_or(Value::Null, json),
            None if property.is_true_by_default => Value::Bool(true),
            None => return None,
        };
        Some((property.name.to_owned(), value))
    });
    shown.collect()
}

fn json(value: &PropertyValue) -> Value {
    match value {
        PropertyValue::Text(text) => Value::from(text.as_str()),
        PropertyValue::Flag(flag) => Value::Bool(*flag),
        PropertyValue::Number(number) => serde_json::from_str(number).unwrap_or(Value::Null),
    }
}
