//! A cache of the users of tokens that have signed a user in.
//!
//! A request takes a permit before its token is looked up. The cache tells which user the permit counts for. An
//! invented token is not in the cache, so the permit counts for the address. The cache grants nothing: permissions
//! are always read from the database.

use hexforge_domain::id::UserId;
use hexforge_domain::token::TokenHash;
use quick_cache::sync::Cache;

/// The maximum number of cached tokens.
const TOKENS: usize = 10_000;

/// The cache of tokens and their users.
pub struct KnownCallers(Cache<TokenHash, UserId>);

impl Default for KnownCallers {
    fn default() -> Self {
        Self(Cache::new(TOKENS))
    }
}

impl KnownCallers {
    /// Returns the user of a token, if the cache has it.
    pub fn user_of(&self, token: &TokenHash) -> Option<UserId> {
        self.0.get(token)
    }

    /// Stores the user that a token signed in.
    pub fn remember(&self, token: TokenHash, user: UserId) {
        if self.0.get(&token) != Some(user) {
            self.0.insert(token, user);
        }
    }

    /// Removes a token that no longer signs a user in.
    pub fn forget(&self, token: &TokenHash) {
        self.0.remove(token);
    }
}
