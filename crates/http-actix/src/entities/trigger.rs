//! Triggers.

use hexforge_application::trigger::{TriggerView, Triggered};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::time::Iso;

/// A trigger in a response.
#[derive(Serialize, ToSchema)]
pub struct TriggerJson<'a> {
    token: &'a str,
    created_at: Iso,
    updated_at: Iso,
    deleted_at: Option<Iso>,
    last_used: Option<Iso>,
}

impl<'a> From<&'a TriggerView> for TriggerJson<'a> {
    fn from(view: &'a TriggerView) -> Self {
        Self {
            token: view.token.reveal(),
            created_at: Iso(view.trigger.created_at),
            updated_at: Iso(view.trigger.updated_at),
            deleted_at: view.deleted_at.map(Iso),
            last_used: view.trigger.last_used_at.map(Iso),
        }
    }
}

/// A use of a trigger in a response.
#[derive(Serialize, ToSchema)]
pub struct TriggeredJson {
    id: i64,
    #[schema(value_type = HashMap<String, String>)]
    variables: Map<String, Value>,
}

impl From<Triggered> for TriggeredJson {
    fn from(used: Triggered) -> Self {
        let pairs = used.variables.into_iter();
        Self {
            id: used.id.0,
            variables: pairs.map(|(key, value)| (key, Value::String(value))).collect(),
        }
    }
}
