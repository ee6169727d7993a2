//! Tokens, without their secrets.

use hexforge_domain::Timestamp;
use hexforge_domain::token::{Token, TokenValidity};
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Iso;

/// A token in a response.
#[derive(Serialize, ToSchema)]
pub struct TokenJson {
    id: i64,
    /// `private` for sign-ins, `personal` for programs.
    kind: &'static str,
    name: String,
    active: bool,
    created_at: Iso,
    expires_at: Option<Iso>,
    revoked_at: Option<Iso>,
}

impl TokenJson {
    /// The token at a given time.
    pub fn new(token: Token, now: Timestamp) -> Self {
        Self {
            id: token.id.0,
            kind: token.kind.as_str(),
            name: token.name,
            active: token.life.at(now) == TokenValidity::Active,
            created_at: Iso(token.created_at),
            expires_at: token.life.expires_at.map(Iso),
            revoked_at: token.life.revoked_at.map(Iso),
        }
    }
}
