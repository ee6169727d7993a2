//! Pages for requests that middleware refused before they reached a page.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use actix_web::middleware::Next;
use actix_web::{Error, HttpResponse};

use crate::error::PageError;
use crate::render;
use crate::table::InPath;
use crate::visit::Visit;

/// Replaces the bodies of refusals by pages, at the addresses of pages. Clients of the interface, of git and of files get
/// the bodies that they expect. The page does not look up the session, because a refusal must be cheap.
pub async fn explain(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let response = next.call(request).await?.map_into_boxed_body();
    // Routes outside of the pages, such as health checks, explain their errors themselves.
    let is_routed = response.request().match_pattern().is_some();
    let refusal = refusal_of(response.response()).filter(|_| !is_routed);
    let Some(refusal) = refusal.filter(|_| is_of_pages(response.request().path())) else {
        return Ok(response);
    };
    let (request, refused) = response.into_parts();
    let visit = Visit::new(&request, InPath::default()).ok();
    let mut page = refusal.into_page(visit.as_ref());
    render::complete(&mut page);
    add_headers(&mut page, refused.headers());
    let page = render::compressed(request.headers(), page).await?;
    Ok(ServiceResponse::new(request, page))
}

/// The error that a refusal of the middleware stands for. Pages are HTML already.
fn refusal_of(response: &HttpResponse) -> Option<PageError> {
    let media_type = response.headers().get(CONTENT_TYPE);
    if media_type.is_some_and(|media_type| media_type.as_bytes().starts_with(b"text/html")) {
        return None;
    }
    let seconds = response.headers().get(RETRY_AFTER);
    let seconds = seconds.and_then(|value| value.to_str().ok()?.parse().ok()).unwrap_or(1);
    match response.status().as_u16() {
        400 => Some(PageError::bad_request()),
        408 => Some(PageError::too_slow()),
        413 => Some(PageError::too_large()),
        429 => Some(PageError::throttled(seconds)),
        503 => Some(PageError::busy(seconds)),
        _ => None,
    }
}

/// Whether people open an address in a browser. The other addresses belong to the interface, to git clients and to files.
fn is_of_pages(path: &str) -> bool {
    let mut segments = path.split('/').filter(|segment| !segment.is_empty());
    match (segments.next(), segments.next(), segments.next()) {
        (Some("api" | "ci" | "uploads"), _, _) => false,
        (Some("-"), Some("liveness" | "readiness" | "metrics" | "assets" | "identicon"), _) => {
            false
        }
        (_, _, Some("git-upload-pack" | "git-receive-pack" | "gitlab-lfs" | "uploads")) => false,
        (_, _, Some("info")) => !matches!(segments.next(), Some("refs" | "lfs")),
        _ => true,
    }
}

/// Adds the headers of the refusal, such as those of the rate limit, that the page does not have.
fn add_headers(page: &mut HttpResponse, of_refusal: &HeaderMap) {
    for (name, value) in of_refusal {
        if *name != CONTENT_TYPE && *name != CONTENT_LENGTH && !page.headers().contains_key(name) {
            page.headers_mut().insert(name.clone(), value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_of_the_interface_and_of_git_get_no_pages() {
        for (path, expected) in [
            ("/", true),
            ("/help", true),
            ("/ada/ship", true),
            ("/ada/ship/info", true),
            ("/ada/uploads", true),
            ("/apia/ship", true),
            ("/-/color_scheme", true),
            ("/api/v3/projects", false),
            ("/ci/api/v1/builds/register", false),
            ("/-/readiness", false),
            ("/ada/ship.git/info/refs", false),
            ("/ada/ship.git/git-upload-pack", false),
            ("/ada/ship.git/info/lfs/objects/batch", false),
            ("/ada/ship/uploads/0a/plan.pdf", false),
            ("/uploads/user/avatar/1/me.png", false),
        ] {
            assert_eq!(is_of_pages(path), expected, "{path}");
        }
    }

    #[test]
    fn refusals_have_pages_unless_they_are_pages() {
        let json = |status: u16| {
            let status = actix_web::http::StatusCode::from_u16(status).expect("a status");
            HttpResponse::build(status).content_type("application/json").body("{}")
        };
        for status in [400, 408, 413, 429, 503] {
            assert!(refusal_of(&json(status)).is_some(), "{status}");
        }
        for status in [200, 304, 404] {
            assert!(refusal_of(&json(status)).is_none(), "{status}");
        }
        let page = HttpResponse::BadRequest().content_type("text/html; charset=utf-8").body("");
        assert!(refusal_of(&page).is_none());
    }
}
