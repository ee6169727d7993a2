//! The users behind tokens that have signed somebody in.
//!
//! A permit is taken before the token of a call is looked up. A token that is remembered here tells whose permit it is;
//! made-up tokens give nobody a share of their own. That is all it tells: who may do what is decided by the database.

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

/// Tokens and their users.
pub(crate) struct KnownCallers(Cache<TokenHash, UserId>);

impl Default for KnownCallers {
    fn default() -> Self {
        Self(Cache::new(TOKENS))
    }
}

impl KnownCallers {
    /// The caller behind credentials: a user if they are known, else an address.
    pub(crate) fn caller(
        &self,
        app: &App,
        credentials: &Credentials,
        address: Option<IpAddr>,
    ) -> Caller {
        let user = token(credentials).and_then(|token| self.0.get(&app.secrets.digest(token)));
        Caller::of_user(user, address)
    }

    /// The caller behind a request before its body is read. A token may also be the password that a git client sends.
    pub(crate) fn caller_of(&self, app: &App, request: &HttpRequest, query: &Params) -> Caller {
        let shown = credentials(request, query);
        let password = basic(request).map(|(_, password)| password);
        let token = token(&shown).or(password.as_ref().map(Secret::reveal));
        let user = token.and_then(|token| self.0.get(&app.secrets.digest(token)));
        Caller::of_user(user, client_address(request))
    }

    /// Remembers whom a token signed in that came as a password.
    pub(crate) fn remember_password(&self, app: &App, token: &Secret, actor: Actor) {
        if let Some(user) = actor.user() {
            self.put(app.secrets.digest(token.reveal()), user);
        }
    }

    /// Remembers whom credentials signed in.
    pub(crate) fn remember(&self, app: &App, credentials: &Credentials, actor: Actor) {
        if let (Some(token), Some(user), None) =
            (token(credentials), actor.user(), &credentials.sudo)
        {
            self.put(app.secrets.digest(token), user);
        }
    }

    fn put(&self, token: TokenHash, user: UserId) {
        if self.0.get(&token) != Some(user) {
            self.0.insert(token, user);
        }
    }

    /// Forgets a token that signs nobody in any more.
    pub(crate) fn forget(&self, app: &App, credentials: &Credentials) {
        if let Some(token) = token(credentials) {
            self.0.remove(&app.secrets.digest(token));
        }
    }
}

/// The token that was shown. Where two were shown it is not known which one counts.
pub(crate) fn token(credentials: &Credentials) -> Option<&str> {
    match (&credentials.private_token, &credentials.bearer_token) {
        (Some(token), None) | (None, Some(token)) => Some(token),
        _ => None,
    }
}
