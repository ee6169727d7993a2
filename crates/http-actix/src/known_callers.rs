//! A cache of the users of tokens that have signed a user in.
//!
//! A call takes a permit before its token is looked up. The cache tells which user the permit counts for. An invented
//! token is not in the cache, so the permit counts for the address. The cache grants nothing: permissions are always
//! read from the database.

use std::net::IpAddr;

use actix_web::HttpRequest;
use hexforge_application::app::App;
use hexforge_application::sign_in::Credentials;
use hexforge_domain::id::UserId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::policy::Actor;
use hexforge_domain::text::Secret;
use hexforge_domain::token::TokenHash;
use quick_cache::sync::Cache;

use crate::client::client_address;
use crate::params::{Params, basic, credentials};

/// The maximum number of cached tokens.
const TOKENS: usize = 10_000;

/// The cache of tokens and their users.
pub(crate) struct KnownCallers(Cache<TokenHash, UserId>);

impl Default for KnownCallers {
    fn default() -> Self {
        Self(Cache::new(TOKENS))
    }
}

impl KnownCallers {
    /// Returns the user of the credentials if the cache has their token, otherwise the address.
    pub(crate) fn caller(
        &self,
        app: &App,
        credentials: &Credentials,
        address: Option<IpAddr>,
    ) -> Caller {
        let user =
            single_token(credentials).and_then(|token| self.0.get(&app.secrets.digest(token)));
        Caller::of_user(user, address)
    }

    /// Returns the caller of a request before its body is read. Git clients may send a token as the password.
    pub(crate) fn caller_of(&self, app: &App, request: &HttpRequest, query: &Params) -> Caller {
        let shown = credentials(request, query);
        let password = basic(request).map(|(_, password)| password);
        let token = single_token(&shown).or(password.as_ref().map(Secret::reveal));
        let user = token.and_then(|token| self.0.get(&app.secrets.digest(token)));
        Caller::of_user(user, client_address(request))
    }

    /// Stores the user of a token that was sent as a password.
    pub(crate) fn remember_password(&self, app: &App, token: &Secret, actor: Actor) {
        if let Some(user) = actor.user() {
            self.insert(app.secrets.digest(token.reveal()), user);
        }
    }

    /// Stores the user that the credentials signed in.
    pub(crate) fn remember(&self, app: &App, credentials: &Credentials, actor: Actor) {
        if let (Some(token), Some(user), None) =
            (single_token(credentials), actor.user(), &credentials.sudo)
        {
            self.insert(app.secrets.digest(token), user);
        }
    }

    fn insert(&self, token: TokenHash, user: UserId) {
        if self.0.get(&token) != Some(user) {
            self.0.insert(token, user);
        }
    }

    /// Removes a token that no longer signs a user in.
    pub(crate) fn forget(&self, app: &App, credentials: &Credentials) {
        if let Some(token) = single_token(credentials) {
            self.0.remove(&app.secrets.digest(token));
        }
    }
}

/// Returns the token of the credentials. `None` if there are two, because it is not known which one signs in.
pub(crate) fn single_token(credentials: &Credentials) -> Option<&str> {
    match (&credentials.private_token, &credentials.bearer_token) {
        (Some(token), None) | (None, Some(token)) => Some(token),
        _ => None,
    }
}
