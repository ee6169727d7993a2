//! The port to randomness.

use crate::text::Secret;
use crate::token::TokenHash;

/// Makes secrets that nobody can guess.
pub trait Secrets: Send + Sync {
    /// A new random token of letters, digits, `-` and `_`, at least 20 long.
    fn token(&self) -> Secret;

    /// The digest under which a token is stored and found.
    fn digest(&self, token: &str) -> TokenHash;
}
