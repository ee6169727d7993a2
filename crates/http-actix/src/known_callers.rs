//! The callers of requests, as far as the cache of tokens knows them.

use std::net::IpAddr;

use actix_web::HttpRequest;
use hexforge_application::sign_in::Credentials;
use hexforge_domain::limiter::Caller;
use hexforge_domain::policy::Actor;
use hexforge_domain::text::Secret;
use hexforge_http_edge::Edge;
use hexforge_http_edge::client::client_address;

use crate::params::{Params, basic, credentials};

/// Returns the user of the credentials if the cache has their token, otherwise the address.
pub(crate) fn caller(edge: &Edge, credentials: &Credentials, address: Option<IpAddr>) -> Caller {
    caller_with(edge, single_token(credentials), address)
}

/// Returns the caller of a request before its body is read. Git clients may send a token as the password.
pub(crate) fn caller_of(edge: &Edge, request: &HttpRequest, query: &Params) -> Caller {
    let shown = credentials(request, query);
    let password = basic(request).map(|(_, password)| password);
    let token = single_token(&shown).or(password.as_ref().map(Secret::reveal));
    caller_with(edge, token, client_address(request))
}

fn caller_with(edge: &Edge, token: Option<&str>, address: Option<IpAddr>) -> Caller {
    let user = token.and_then(|token| edge.known_callers.user_of(&edge.app.secrets.digest(token)));
    Caller::of_user(user, address)
}

/// Stores the user of a token that was sent as a password.
pub(crate) fn remember_password(edge: &Edge, token: &Secret, actor: Actor) {
    if let Some(user) = actor.user() {
        edge.known_callers.remember(edge.app.secrets.digest(token.reveal()), user);
    }
}

/// Stores the user that the credentials signed in.
pub(crate) fn remember(edge: &Edge, credentials: &Credentials, actor: Actor) {
    if let (Some(token), Some(user), None) =
        (single_token(credentials), actor.user(), &credentials.sudo)
    {
        edge.known_callers.remember(edge.app.secrets.digest(token), user);
    }
}

/// Removes a token that no longer signs a user in.
pub(crate) fn forget(edge: &Edge, credentials: &Credentials) {
    if let Some(token) = single_token(credentials) {
        edge.known_callers.forget(&edge.app.secrets.digest(token));
    }
}

/// Returns the token of the credentials. `None` if there are two, because it is not known which one signs in.
pub(crate) fn single_token(credentials: &Credentials) -> Option<&str> {
    match (&credentials.private_token, &credentials.bearer_token) {
        (Some(token), None) | (None, Some(token)) => Some(token),
        _ => None,
    }
}
