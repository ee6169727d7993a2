//! Request ids, the access log and metrics.

use std::time::Instant;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{Error, web};
use tracing::Instrument;

use crate::shared::Shared;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Longer ids of callers are not taken over.
const MAX_ID: usize = 128;

/// Gives every request an id, and writes one line about it when it is answered. Neither has the
/// query or any header in it: that is where secrets are.
pub async fn observe(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let started = Instant::now();
    let id = given_id(&request).or_else(|| new_id(&request));
    let method = request.method().clone();
    let path = request.path().to_owned();
    let span = tracing::info_span!("request", id = id.as_ref().and_then(|id| id.to_str().ok()));
    let mut response = next.call(request).instrument(span.clone()).await?;
    let status = response.status();
    let elapsed = started.elapsed();
    // The pattern and not the path: a label has to have few values.
    let route = response.request().match_pattern().unwrap_or_else(|| "none".to_owned());
    let labels = [
        ("method", method_label(&method).to_owned()),
        ("route", route),
        ("status", status.as_str().to_owned()),
    ];
    metrics::counter!("hexforge_http_requests_total", &labels).increment(1);
    metrics::histogram!("hexforge_http_request_seconds", &labels).record(elapsed.as_secs_f64());
    span.in_scope(|| {
        tracing::info!(
            %method, path, status = status.as_u16(), micros = elapsed.as_micros() as u64, "answered"
        );
    });
    if let Some(id) = id {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    // `X-Total` and not `x-total`: the same to HTTP, but not to every script that looks for it.
    response.response_mut().head_mut().set_camel_case_headers(true);
    Ok(response)
}

/// Callers can make up methods; as labels each would be remembered for ever.
fn method_label(method: &Method) -> &str {
    match *method {
        Method::GET
        | Method::HEAD
        | Method::POST
        | Method::PUT
        | Method::PATCH
        | Method::DELETE
        | Method::OPTIONS => method.as_str(),
        _ => "other",
    }
}

/// The id that the caller or a proxy gave, if it is harmless.
fn given_id(request: &ServiceRequest) -> Option<HeaderValue> {
    let given = request.headers().get(REQUEST_ID)?;
    let harmless =
        given.as_bytes().iter().all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(b));
    (harmless && (1..=MAX_ID).contains(&given.len())).then(|| given.clone())
}

fn new_id(request: &ServiceRequest) -> Option<HeaderValue> {
    let shared = request.app_data::<web::Data<Shared>>()?;
    HeaderValue::from_str(shared.app.secrets.token().reveal()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_up_methods_share_one_label() {
        assert_eq!(method_label(&Method::GET), "GET");
        assert_eq!(method_label(&Method::DELETE), "DELETE");
        for name in ["get", "X1", "X2", "PROPFIND", "TRACE"] {
            let method = Method::from_bytes(name.as_bytes()).expect("a token is a method");
            assert_eq!(method_label(&method), "other");
        }
    }
}
