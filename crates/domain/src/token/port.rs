//! The port to the stored tokens.

use super::{NewToken, Token, TokenHash, TokenHolder};
use crate::Timestamp;
use crate::id::{TokenId, UserId};
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;

/// The tokens of all users.
pub trait Tokens {
    /// What a sign-in needs to know, in one look-up.
    fn holder(&mut self, hash: &TokenHash) -> Result<Option<TokenHolder>, StoreError>;

    /// Tokens of a user, newest first.
    fn list(&mut self, user: UserId, page: Page) -> Result<Paged<Token>, StoreError>;

    /// Stores a token.
    fn insert(&mut self, new: NewToken) -> Result<Token, StoreError>;

    /// Takes a token back. Says whether there was one of that id to take back.
    fn revoke(&mut self, id: TokenId, at: Timestamp) -> Result<bool, StoreError>;
}
