//! Pages as responses, with the headers that all of them have.

use actix_web::body::MessageBody;
use actix_web::http::StatusCode;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, HeaderName,
    HeaderValue, LOCATION, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::{HttpMessage, HttpResponse, HttpResponseBuilder};
use askama::Template;
use hexforge_http_edge::conditional::ETag;
use hexforge_http_edge::gzip;
use hexforge_http_edge::request_id::RequestId;

use crate::address;
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::visit::{Viewer, Visit};

/// Nothing of a page runs but our own scripts, and nothing is loaded from other hosts.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The pictures of a page, and those if the operator allows pictures of other hosts.
const OWN_IMAGES: &str = "img-src 'self' data:";
const ALL_IMAGES: &str = "img-src 'self' data: https:";

/// What users wrote and a browser shows by itself runs nothing at all.
const SANDBOX: &str = "default-src 'none'; sandbox";

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// A page with the status 200.
pub(crate) fn page(
    visit: &Visit,
    viewer: &Viewer,
    template: &impl Template,
) -> PageResult<HttpResponse> {
    Ok(page_with(StatusCode::OK, visit, viewer, template))
}

/// A page with another status.
pub(crate) fn page_with(
    status: StatusCode,
    visit: &Visit,
    viewer: &Viewer,
    template: &impl Template,
) -> HttpResponse {
    let html = match template.render() {
        Ok(html) => html,
        Err(error) => {
            tracing::error!(cause = %error, "a page could not be rendered");
            return HttpResponse::InternalServerError().finish();
        }
    };
    let mut response = HttpResponse::build(status);
    if visit.app().settings.remote_images {
        response.insert_header((CONTENT_SECURITY_POLICY, POLICY.replace(OWN_IMAGES, ALL_IMAGES)));
    }
    let cache = if viewer.signed_in().is_some() { "private, no-cache" } else { "no-cache" };
    response.insert_header((CACHE_CONTROL, cache));
    if visit.notice().is_some() {
        response.cookie(visit.jar().no_notice());
    }
    response.content_type("text/html; charset=utf-8").body(html)
}

/// Compresses a page, a stylesheet or a picture, if the browser accepts it.
pub(crate) async fn compressed(
    request: &HeaderMap,
    response: HttpResponse,
) -> Result<HttpResponse, actix_web::Error> {
    let media_type = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    let is_text = media_type.is_some_and(|media_type| {
        ["text/", "image/svg+xml", "application/json", "application/atom+xml"]
            .iter()
            .any(|text| media_type.starts_with(text.as_bytes()))
    });
    if !is_text || response.headers().contains_key(CONTENT_ENCODING) {
        return Ok(response);
    }
    let (response, body) = response.into_parts();
    match body.try_into_bytes() {
        Ok(body) => gzip::encode(request, response, body).await,
        Err(body) => Ok(response.set_body(body)),
    }
}

/// Adds the headers of every page to a response that does not set them itself, such as a redirect. A response without a
/// body leaves those of the response that the browser has.
pub(crate) fn complete(response: &mut HttpResponse) {
    if response.status() == StatusCode::NOT_MODIFIED {
        return;
    }
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "same-origin"),
        (OPENER_POLICY, "same-origin"),
        (CACHE_CONTROL, "private, no-cache"),
    ] {
        if !headers.contains_key(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
}

/// Keeps a page out of every cache, because it shows a secret or the form of a stranger.
pub(crate) fn unstored(mut response: HttpResponse) -> HttpResponse {
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The beginning of a response with bytes of users.
pub(crate) fn foreign_bytes(media_type: &str) -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response
        .content_type(media_type)
        .insert_header((CONTENT_SECURITY_POLICY, SANDBOX))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"));
    response
}

/// The response to a browser that has the current state of a page.
pub(crate) fn not_modified(tag: &ETag) -> HttpResponse {
    let mut response = HttpResponse::NotModified();
    tag.put_on(&mut response);
    response.finish()
}

/// Sends the browser to another page after a form.
pub(crate) fn see_other(address: &str) -> HttpResponseBuilder {
    let mut response = HttpResponse::SeeOther();
    response.insert_header((LOCATION, address::in_header(address)));
    response
}

/// Like [`see_other`], with a message that the other page shows.
pub(crate) fn see_other_with(visit: &Visit, address: &str, notice: Notice) -> HttpResponse {
    see_other(address).cookie(visit.jar().new_notice(notice)).finish()
}

/// Sends the browser to another address of the same page.
pub(crate) fn moved(address: &str) -> PageResult<HttpResponse> {
    let mut response = HttpResponse::MovedPermanently();
    // Who may see the page may change.
    response
        .insert_header((LOCATION, address::in_header(address)))
        .insert_header((CACHE_CONTROL, "private, no-cache"));
    Ok(response.finish())
}

/// The id of the request, for error pages.
pub(crate) fn request_id(visit: &Visit) -> Option<String> {
    visit.request().extensions().get::<RequestId>().map(|id| id.0.clone())
}
