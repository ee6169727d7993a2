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

    /// The token of that id.
    fn find(&mut self, id: TokenId) -> Result<Option<Token>, StoreError>;

    /// Moves the end of a token that is not revoked.
    fn extend(&mut self, id: TokenId, expires_at: Timestamp) -> Result<(), StoreError>;

    /// Takes all sessions of a user back: its private tokens that have an end.
    fn revoke_sessions(&mut self, user: UserId, at: Timestamp) -> Result<(), StoreError>;

    /// Sessions whose end was at this moment or before, revoked or not; at most so many, the oldest end first.
    fn ended_sessions(&mut self, by: Timestamp, limit: u32) -> Result<Vec<TokenId>, StoreError>;

    /// Removes tokens.
    fn remove(&mut self, ids: &[TokenId]) -> Result<(), StoreError>;

    /// Takes a token back. Says whether there was one of that id to take back.
    fn revoke(&mut self, id: TokenId, at: Timestamp) -> Result<bool, StoreError>;
}
