//! Compressed responses.

use std::io::Write;

use actix_web::HttpResponse;
use actix_web::body::BoxBody;
use actix_web::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderValue, VARY};
use actix_web::web::{self, Bytes};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::meter::Meter;

/// Responses shorter than this are not compressed.
const MIN_COMPRESSED: usize = 1024;

/// Responses longer than this are compressed on the blocking thread pool.
const LONG: usize = 64 * 1024;

/// Adds a body to a response, compressed if it is long enough and the client accepts gzip.
/// # Errors
/// The thread pool is shut down.
pub async fn encode(
    request: &HeaderMap,
    mut response: HttpResponse<()>,
    body: Bytes,
) -> Result<HttpResponse<BoxBody>, actix_web::Error> {
    if body.len() < MIN_COMPRESSED {
        return Ok(response.set_body(BoxBody::new(body)));
    }
    response.headers_mut().append(VARY, HeaderValue::from_static("accept-encoding"));
    if !is_accepted(request) {
        return Ok(response.set_body(BoxBody::new(body)));
    }
    response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    Ok(response.set_body(BoxBody::new(compress(body).await?)))
}

/// Whether the client accepts gzip.
fn is_accepted(headers: &HeaderMap) -> bool {
    let texts = headers.get_all(ACCEPT_ENCODING).filter_map(|value| value.to_str().ok());
    texts.flat_map(|text| text.split(',')).any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let weight = parts.find_map(|part| part.strip_prefix("q=")?.trim().parse::<f32>().ok());
        named && weight.is_none_or(|weight| weight > 0.0)
    })
}

/// Compresses a body. Long ones are compressed on another thread, and the caller pays for it.
async fn compress(body: Bytes) -> Result<Bytes, actix_web::Error> {
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
            assert_eq!(is_accepted(&headers), takes, "{said}");
        }
        assert!(!is_accepted(&HeaderMap::new()));
    }
}
