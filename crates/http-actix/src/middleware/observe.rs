//! Request ids, the access log and metrics.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{CONTENT_LENGTH, HeaderName, HeaderValue, TRANSFER_ENCODING};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, HttpRequest, web};
use hexforge_http_edge::request_id::RequestId;
use hexforge_http_edge::route::Pattern;
use tracing::Instrument;

use super::logged_path::logged_path;
use crate::connection::{InProgress, Progress};
use crate::shared::Shared;
use hexforge_http_edge::client::{origin, unlisted_forwarder};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The maximum length of a request id that is taken over from the client.
const MAX_ID: usize = 128;

/// Gives every request an id, and logs one line when it is answered. The line does not contain secrets: no query, no
/// headers, and of the path only what `logged_path` shows.
pub async fn observe(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let started = Instant::now();
    let shared = request.app_data::<web::Data<Shared>>();
    let id = client_id(&request).or_else(|| new_id(shared?));
    let method = request.method().clone();
    let origin = origin(request.request());
    let client = origin.map(|origin| tracing::field::display(origin.address));
    let scheme = origin.map_or("http", |origin| origin.scheme);
    if let Some(shared) = shared {
        report_unlisted_forwarder(request.request(), shared);
    }
    let span = tracing::info_span!("request", id = id.as_ref().and_then(|id| id.to_str().ok()));
    if let Some(id) = id.as_ref().and_then(|id| id.to_str().ok()) {
        request.extensions_mut().insert(RequestId(id.to_owned()));
    }
    let in_progress = request.conn_data::<InProgress>().cloned();
    set_progress(&in_progress, progress_of(&request));
    let response = next.call(request).instrument(span.clone()).await;
    set_progress(&in_progress, Progress::Idle);
    let mut response = response?;
    let status = response.status();
    let elapsed = started.elapsed();
    // The label is the pattern and not the path, because a label should have few values.
    let pattern = match Pattern::of(response.request()) {
        Some(Pattern(pattern)) => Some(pattern.to_owned()),
        None => response.request().match_pattern(),
    };
    let found = response.request().match_info();
    let path = logged_path(pattern.as_deref(), response.request().path(), |name| found.get(name));
    let route = pattern.unwrap_or_else(|| "none".to_owned());
    let labels = Labels { method: method_label(&method).to_owned(), route, status };
    labels.count(elapsed);
    let micros = elapsed.as_micros() as u64;
    span.in_scope(|| {
        tracing::info!(%method, path, status = status.as_u16(), micros, client, scheme, "answered");
    });
    if let Some(id) = id {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    // Header names are sent as `X-Total`, not `x-total`. HTTP does not distinguish them, but some scripts do.
    response.response_mut().head_mut().set_camel_case_headers(true);
    Ok(response)
}

/// Warns about a proxy that may be missing in the settings. Any client can send such headers, so it warns rarely.
fn report_unlisted_forwarder(request: &HttpRequest, shared: &Shared) {
    if let Some(peer) = unlisted_forwarder(request)
        && shared.forwarder_reports.is_due(shared.edge.app.clock.now())
    {
        tracing::warn!(%peer, "forwarded headers are ignored: trusted_proxies does not list the peer");
    }
}

/// Tells the connection the state of its request.
fn set_progress(connection: &Option<InProgress>, progress: Progress) {
    if let Some(connection) = connection {
        connection.set(progress);
    }
}

/// The state of a request that begins.
fn progress_of(request: &ServiceRequest) -> Progress {
    let headers = request.headers();
    let has_length = headers.get(CONTENT_LENGTH).is_some_and(|length| length.as_bytes() != b"0");
    if has_length || headers.contains_key(TRANSFER_ENCODING) {
        Progress::WithBody
    } else {
        Progress::WithoutBody
    }
}

/// Counts and logs a request that was refused before it was parsed. Its method and path are not known, nor the client
/// of a proxy.
pub(crate) fn record_refused(id: &str, status: StatusCode, client: Option<IpAddr>) {
    let labels = Labels { method: "other".to_owned(), route: "none".to_owned(), status };
    labels.count(Duration::ZERO);
    let client = client.map(tracing::field::display);
    tracing::info_span!("request", id).in_scope(|| {
        let (method, path, micros) = (tracing::field::display("-"), "-", 0_u64);
        tracing::info!(
            method,
            path,
            status = status.as_u16(),
            micros,
            client,
            scheme = "http",
            "answered"
        );
    });
}

/// The labels of the request metrics.
struct Labels {
    method: String,
    route: String,
    status: StatusCode,
}

impl Labels {
    fn count(self, elapsed: Duration) {
        let labels = [
            ("method", self.method),
            ("route", self.route),
            ("status", self.status.as_str().to_owned()),
        ];
        metrics::counter!("hexforge_http_requests_total", &labels).increment(1);
        metrics::histogram!("hexforge_http_request_seconds", &labels).record(elapsed.as_secs_f64());
    }
}

/// The label of a method. Clients can invent methods, and each label is kept forever, so unknown ones share a label.
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

/// The request id that the client or a proxy sent, if it is safe to log.
fn client_id(request: &ServiceRequest) -> Option<HeaderValue> {
    let given = request.headers().get(REQUEST_ID)?;
    let harmless =
        given.as_bytes().iter().all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(b));
    (harmless && (1..=MAX_ID).contains(&given.len())).then(|| given.clone())
}

pub(crate) fn new_id(shared: &Shared) -> Option<HeaderValue> {
    HeaderValue::from_str(shared.edge.app.secrets.token().reveal()).ok()
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
