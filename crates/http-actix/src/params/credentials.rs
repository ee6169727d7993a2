//! Credentials of a request: tokens, `sudo` and `Basic`.

use actix_web::HttpRequest;
use actix_web::http::header::{AUTHORIZATION, HeaderName};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hexforge_application::sign_in::Credentials;
use hexforge_domain::text::Secret;

use super::Params;

/// Reads the credentials of a request. For the private token and for sudo, a parameter takes precedence over the
/// header, even if it is invalid.
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

/// The token of a header `Bearer <token>`. Other schemes are ignored, because proxies may need them.
fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The name and the password or token of a header `Basic <both>`.
pub fn basic(request: &HttpRequest) -> Option<(String, Secret)> {
    name_and_password(request.headers().get(AUTHORIZATION)?.to_str().ok()?)
}

fn name_and_password(header: &str) -> Option<(String, Secret)> {
    let (scheme, both) = header.trim().split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let both = String::from_utf8(STANDARD.decode(both.trim()).ok()?).ok()?;
    let (name, password) = both.split_once(':')?;
    // PostgreSQL refuses texts with NUL characters.
    let given = !name.contains('\0') && !password.is_empty();
    given.then(|| (name.to_owned(), Secret::new(password)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_basic_scheme_carries_a_name_and_a_password() {
        let both = |header| {
            let found = name_and_password(header)?;
            Some((found.0, found.1.reveal().to_owned()))
        };
        let pair = |name: &str, password: &str| Some((name.to_owned(), password.to_owned()));
        assert_eq!(both("Basic YWRhOmE6Yg=="), pair("ada", "a:b"));
        assert_eq!(both("basic  OnRva2Vu "), pair("", "token"));
        for header in ["Basic YWRh", "Basic YWRhOg==", "Basic %%%", "Basic", "Bearer YWRhOmE6Yg=="]
        {
            assert_eq!(both(header), None, "{header}");
        }
        assert_eq!(both("Basic YQBiOng="), None, "a NUL in the name");
    }

    #[test]
    fn only_the_bearer_scheme_carries_a_token() {
        assert_eq!(bearer("Bearer abc"), Some("abc"));
        assert_eq!(bearer("bearer  abc "), Some("abc"));
        assert_eq!(bearer("Basic YTpi"), None);
        assert_eq!(bearer("abc"), None);
    }
}
