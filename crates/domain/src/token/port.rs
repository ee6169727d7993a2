//! The port to the stored tokens.

use super::{NewToken, Token, TokenHash, TokenHolder};
use crate::Timestamp;
use crate::id::{TokenId, UserId};
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;

/// The tokens of all users.
pub trait Tokens {
    /// Returns the token with this hash and its owner, in one query.
    fn holder(&mut self, hash: &TokenHash) -> Result<Option<TokenHolder>, StoreError>;

    /// Returns a page of the tokens of a user, newest first.
    fn list(&mut self, user: UserId, page: Page) -> Result<Paged<Token>, StoreError>;

    /// Returns the personal tokens of a user that are neither revoked nor expired at `now`, newest first, at most
    /// `limit`.
    fn active_personal(
        &mut self,
        user: UserId,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Token>, StoreError>;

    /// Stores a token.
    fn insert(&mut self, new: NewToken) -> Result<Token, StoreError>;

    /// Returns the token with this id.
    fn find(&mut self, id: TokenId) -> Result<Option<Token>, StoreError>;

    /// Sets the expiry time of a token that is not revoked.
    fn extend(&mut self, id: TokenId, expires_at: Timestamp) -> Result<(), StoreError>;

    /// Revokes all sessions of a user: its private tokens that expire.
    fn revoke_sessions(&mut self, user: UserId, at: Timestamp) -> Result<(), StoreError>;

    /// Returns at most `limit` sessions that expired at `by` or before, revoked or not, ordered by
    /// expiry time.
    fn ended_sessions(&mut self, by: Timestamp, limit: u32) -> Result<Vec<TokenId>, StoreError>;

    /// Deletes tokens.
    fn remove(&mut self, ids: &[TokenId]) -> Result<(), StoreError>;

    /// Revokes a token; returns whether there was a token with this id to revoke.
    fn revoke(&mut self, id: TokenId, at: Timestamp) -> Result<bool, StoreError>;
}
