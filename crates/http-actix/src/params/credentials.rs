//! What a request shows of its caller.

use actix_web::HttpRequest;
use actix_web::http::header::{AUTHORIZATION, HeaderName};
use hexforge_application::sign_in::Credentials;

use super::Params;

/// Takes the credentials of a request. Of the private token and of sudo a parameter counts more than
/// the header, also when it makes no sense: then it shows nobody, or leads to nobody.
pub fn credentials(request: &HttpRequest, params: &Params) -> Credentials {
    let header = |name: HeaderName| {
        let value = request.headers().get(name)?;
        let text = String::from_utf8_lossy(value.as_bytes()).trim().to_owned();
        (!text.is_empty()).then_some(text)
    };
    let bearer_header = header(AUTHORIZATION).as_deref().and_then(bearer).map(str::to_owned);
    Credentials {
        private_token: params
            .any_text("private_token")
            .or_else(|| header(HeaderName::from_static("private-token"))),
        bearer_token: bearer_header
            .or_else(|| params.any_text("access_token"))
            .or_else(|| params.any_text("bearer_token")),
        sudo: params.any_text("sudo").or_else(|| header(HeaderName::from_static("sudo"))),
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
