//! Entity tags, 304 and gzip for JSON responses.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue,
};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::web::Bytes;
use actix_web::{Error, HttpResponse};
use hexforge_http_edge::conditional::{ETag, IfNoneMatch, REVALIDATE};
use hexforge_http_edge::gzip;

const TOTAL: HeaderName = HeaderName::from_static("x-total");

/// Adds an entity tag to JSON responses of GET, unless the handler did, and answers 304 if the client has that state.
/// Compresses JSON from a kilobyte on if the client accepts gzip.
pub async fn represent(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let is_read = *request.method() == Method::GET;
    let response = next.call(request).await?.map_into_boxed_body();
    if !is_plain_json(response.headers()) {
        return Ok(response);
    }
    let (request, response) = response.into_parts();
    let (mut response, body) = response.into_parts();
    let body = match body.try_into_bytes() {
        Ok(body) => body,
        Err(body) => return Ok(ServiceResponse::new(request, response.set_body(body))),
    };
    let needs_etag =
        is_read && response.status() == StatusCode::OK && !response.headers().contains_key(ETAG);
    if needs_etag && add_etag(&mut response, request.headers(), &body) {
        return Ok(ServiceResponse::new(request, not_modified(response)));
    }
    let response = gzip::encode(request.headers(), response, body).await?;
    Ok(ServiceResponse::new(request, response))
}

fn is_plain_json(headers: &HeaderMap) -> bool {
    let json = headers.get(CONTENT_TYPE).is_some_and(|value| value == "application/json");
    json && !headers.contains_key(CONTENT_ENCODING)
}

/// Adds the entity tag: a digest of the body and of the total of a list. Returns whether the client has this state.
fn add_etag(response: &mut HttpResponse<()>, request_headers: &HeaderMap, body: &Bytes) -> bool {
    let headers = response.headers_mut();
    let total = headers.get(TOTAL).map_or(&b""[..], HeaderValue::as_bytes);
    let tag = ETag::weak(&[body, total]);
    if let Ok(value) = HeaderValue::from_str(tag.as_str()) {
        headers.insert(ETAG, value);
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(REVALIDATE));
    IfNoneMatch::of(request_headers).matches(&tag)
}

/// Turns a response into a 304. It keeps the headers, because pages have their totals there.
fn not_modified(mut response: HttpResponse<()>) -> HttpResponse<BoxBody> {
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    response.headers_mut().remove(CONTENT_TYPE);
    response.set_body(BoxBody::new(()))
}
