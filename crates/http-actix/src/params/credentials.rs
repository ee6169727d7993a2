//! What a request shows of its caller.

use std::borrow::Cow;

use actix_web::HttpRequest;
use actix_web::http::header::{AUTHORIZATION, HeaderName};
use hexforge_application::sign_in::Credentials;

use super::Params;

/// Takes the credentials of a request. Of the private token and of sudo a parameter counts more than
/// the header. A token that makes no sense shows nobody; a sudo that makes none is kept, because
/// without it the call would be one of the administrator's own.
pub fn credentials(request: &HttpRequest, params: &Params) -> Credentials {
    let param = |name| params.lenient_text(name).map(Cow::into_owned);
    let header = |name: HeaderName| {
        let value = request.headers().get(name)?.to_str().ok()?.trim();
        (!value.is_empty()).then(|| value.to_owned())
    };
    let bearer_header = header(AUTHORIZATION).as_deref().and_then(bearer).map(str::to_owned);
    Credentials {
        private_token: param("private_token")
            .or_else(|| header(HeaderName::from_static("private-token"))),
        bearer_token: bearer_header
            .or_else(|| param("access_token"))
            .or_else(|| param("bearer_token")),
        sudo: params.any_text("sudo").or_else(|| {
            let value = request.headers().get(HeaderName::from_static("sudo"))?;
            let text = String::from_utf8_lossy(value.as_bytes()).trim().to_owned();
            (!text.is_empty()).then_some(text)
        }),
    }
}

/// The token of a header `Bearer <token>`. Other schemes, which proxies may need, are passed over.
fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_bearer_scheme_carries_a_token() {
        assert_eq!(bearer("Bearer abc"), Some("abc"));
        assert_eq!(bearer("bearer  abc "), Some("abc"));
        assert_eq!(bearer("Basic YTpi"), None);
        assert_eq!(bearer("abc"), None);
    }
}
