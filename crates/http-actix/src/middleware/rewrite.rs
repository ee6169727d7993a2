//! Rewrites requests to an equivalent form.

use std::borrow::Cow;

use actix_web::Error;
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::{ACCESS_CONTROL_REQUEST_METHOD, ORIGIN};
use actix_web::http::uri::{PathAndQuery, Uri};
use actix_web::middleware::Next;
use hexforge_http_edge::slashes;

/// Routes HEAD as GET (the connection omits the body), and removes doubled and trailing slashes from the path. An
/// OPTIONS request without an origin is not a CORS preflight.
pub async fn rewrite(
    mut request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    if request.method() == Method::HEAD {
        request.head_mut().method = Method::GET;
    }
    if request.method() == Method::OPTIONS && !request.headers().contains_key(ORIGIN) {
        request.headers_mut().remove(ACCESS_CONTROL_REQUEST_METHOD);
    }
    if let Cow::Owned(path) = single_slashes(request.uri().path())
        && let Some(uri) = with_path(request.uri(), &path)
    {
        if request.path().ends_with('/') {
            slashes::mark(&request);
        }
        request.match_info_mut().get_mut().update(&uri);
        request.head_mut().uri = uri;
    }
    next.call(request).await
}

fn single_slashes(path: &str) -> Cow<'_, str> {
    let trimmed = path.len() > 1 && path.ends_with('/');
    if !trimmed && !path.contains("//") {
        return Cow::Borrowed(path);
    }
    let mut single = String::with_capacity(path.len());
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        single.push('/');
        single.push_str(segment);
    }
    if single.is_empty() {
        single.push('/');
    }
    Cow::Owned(single)
}

fn with_path(uri: &Uri, path: &str) -> Option<Uri> {
    let path_and_query = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(path_and_query).ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_count_once() {
        for (path, single) in [
            ("/", "/"),
            ("//", "/"),
            ("/users", "/users"),
            ("/users/", "/users"),
            ("/api//v3/users//", "/api/v3/users"),
            ("/projects/a%2F%2Fb", "/projects/a%2F%2Fb"),
        ] {
            assert_eq!(single_slashes(path), single, "{path}");
        }
    }
}
