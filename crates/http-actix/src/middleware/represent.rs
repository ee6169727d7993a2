//! Entity tags, 304 and gzip for JSON responses.

use std::io::Write;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderMap, HeaderName,
    HeaderValue, VARY,
};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::web::Bytes;
use actix_web::{Error, HttpResponse, web};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::conditional::{ETag, IfNoneMatch, REVALIDATE};
use crate::meter::Meter;

/// Responses shorter than this are not compressed.
const MIN_COMPRESSED: usize = 1024;

/// Responses longer than this are compressed on the blocking thread pool.
const LONG: usize = 64 * 1024;

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
    let body = if body.len() < MIN_COMPRESSED {
        body
    } else {
        response.headers_mut().append(VARY, HeaderValue::from_static("accept-encoding"));
        match accepts_gzip(request.headers()) {
            true => {
                let gzip = HeaderValue::from_static("gzip");
                response.headers_mut().insert(CONTENT_ENCODING, gzip);
                compress(body).await?
            }
            false => body,
        }
    };
    Ok(ServiceResponse::new(request, response.set_body(BoxBody::new(body))))
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

fn accepts_gzip(headers: &HeaderMap) -> bool {
    let texts = headers.get_all(ACCEPT_ENCODING).filter_map(|value| value.to_str().ok());
    texts.flat_map(|text| text.split(',')).any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let weight = parts.find_map(|part| part.strip_prefix("q=")?.trim().parse::<f32>().ok());
        named && weight.is_none_or(|weight| weight > 0.0)
    })
}

async fn compress(body: Bytes) -> Result<Bytes, Error> {
    if body.len() < LONG {
        return Ok(gzip(&body)?);
    }
    let account = Meter::current().map(|meter| meter.account());
    let work = move || match account {
        Some((limiter, payer)) => limiter.run_call(payer, || gzip(&body)),
        None => gzip(&body),
    };
    Ok(web::block(work).await??)
}

/// Compresses at the fastest level, because responses are compressed each time they are sent.
fn gzip(body: &[u8]) -> std::io::Result<Bytes> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::fast());
    encoder.write_all(body)?;
    encoder.finish().map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_only_to_clients_that_accept_it() {
        for (said, takes) in [
            ("gzip", true),
            ("GZIP", true),
            ("gzip, deflate, br", true),
            ("br;q=1.0, gzip;q=0.8", true),
            ("gzip;q=0", false),
            ("gzip; q=0.0", false),
            ("identity", false),
            ("*", false),
            ("gzipped", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(said));
            assert_eq!(accepts_gzip(&headers), takes, "{said}");
        }
        assert!(!accepts_gzip(&HeaderMap::new()));
    }
}
