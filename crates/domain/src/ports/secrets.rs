//! The port to randomness.

use crate::text::Secret;
use crate::token::TokenHash;

/// Generates unguessable tokens and computes their digests.
pub trait Secrets: Send + Sync {
    /// A new random token of letters, digits, `-` and `_`, at least 20 characters long.
    fn token(&self) -> Secret;

    /// A new random token of letters, digits, `-` and `_` with at least 256 random bits.
    fn session_token(&self) -> Secret;

    /// The digest under which a token is stored and looked up.
    fn digest(&self, token: &str) -> TokenHash;
}
