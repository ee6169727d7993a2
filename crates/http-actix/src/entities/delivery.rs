//! Deliveries of hooks. The hook's secret token is never shown.

use hexforge_domain::delivery::{Attempt, Delivery};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::time::Iso;

/// A delivery in a response.
#[derive(Serialize, ToSchema)]
pub struct DeliveryJson {
    id: i64,
    delivery_id: String,
    event: String,
    state: &'static str,
    tries: u32,
    created_at: Iso,
    tried_at: Option<Iso>,
    next_try_at: Option<Iso>,
    duration_ms: Option<u32>,
    error: Option<String>,
    request: RequestJson,
    response: Option<ResponseJson>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = DeliveryRequest)]
struct RequestJson {
    url: Option<String>,
    headers: Value,
    body: String,
    truncated: bool,
}

#[derive(Serialize, ToSchema)]
#[schema(as = DeliveryResponse)]
struct ResponseJson {
    status: u16,
    body: String,
}

impl From<Delivery> for DeliveryJson {
    fn from(delivery: Delivery) -> Self {
        let headers = json!({
            "Content-Type": "application/json",
            "X-Gitlab-Event": delivery.event,
            "Idempotency-Key": delivery.key.as_str(),
        });
        let (body, truncated) = delivery.body;
        let (at, millis) = (
            delivery.last.as_ref().map(|last| Iso(last.at)),
            delivery.last.as_ref().map(|last| last.millis),
        );
        let (url, response, error) = match delivery.last {
            Some(Attempt { url, status, answer, error, .. }) => {
                let body = answer.unwrap_or_default();
                (Some(url), status.map(|status| ResponseJson { status, body }), error)
            }
            None => (None, None, None),
        };
        Self {
            id: delivery.id.0,
            delivery_id: delivery.key.as_str().to_owned(),
            event: delivery.event,
            state: delivery.state.as_str(),
            tries: delivery.tries,
            created_at: Iso(delivery.created_at),
            tried_at: at,
            next_try_at: delivery.state.due().map(Iso),
            duration_ms: millis,
            error,
            request: RequestJson { url, headers, body, truncated },
            response,
        }
    }
}
