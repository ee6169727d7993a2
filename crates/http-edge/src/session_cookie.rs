//! The cookie of a session on the web pages, for middleware that counts requests for users.

use actix_web::HttpRequest;
use hexforge_domain::id::UserId;
use hexforge_domain::text::Secret;

use crate::Edge;

/// The name of the cookie on a service that is reached by http.
pub const PLAIN_NAME: &str = "hexforge_session";

/// The name of the cookie on a service that is reached by https. A browser takes it only from this host.
pub const HOST_NAME: &str = "__Host-hexforge_session";

/// The longest token that is looked up. Tokens have a fixed length, and nothing longer is hashed.
pub const MAX_TOKEN: usize = 128;

/// Returns the user of the session that the request carries, if that session has signed the user in before. Cookies
/// mean nothing to the API and to runners, so they are ignored there.
pub fn known_user(edge: &Edge, request: &HttpRequest) -> Option<UserId> {
    let path = request.path();
    if path.starts_with("/api/") || path.starts_with("/ci/api/") {
        return None;
    }
    let token = token(edge, request)?;
    edge.known_callers.user_of(&edge.app.secrets.digest(token.reveal()))
}

/// Returns the token of the session that the request carries, for files that pages show: uploads and avatars.
pub fn token(edge: &Edge, request: &HttpRequest) -> Option<Secret> {
    let name = if edge.links.is_https() { HOST_NAME } else { PLAIN_NAME };
    let cookie = request.cookie(name)?;
    let is_possible = |token: &&str| !token.is_empty() && token.len() <= MAX_TOKEN;
    Some(cookie.value()).filter(is_possible).map(Secret::new)
}
