//! The port to the sessions of browsers.

use super::{BrowserSession, NewBrowserSession, SessionHolder};
use crate::Timestamp;
use crate::id::{BrowserSessionId, UserId};
use crate::ports::store_error::StoreError;
use crate::token::TokenHash;

/// The browser sessions of all users. They are deleted with their user.
pub trait BrowserSessions {
    /// Returns the session with this hash and its user, with the version of the settings, in one query.
    fn holder(&mut self, hash: &TokenHash) -> Result<Option<SessionHolder>, StoreError>;

    /// Returns all sessions of a user, at most [`MAX_SESSIONS`](super::MAX_SESSIONS), most recently used first and then
    /// newest first.
    fn list(&mut self, user: UserId) -> Result<Vec<BrowserSession>, StoreError>;

    /// Stores a session that is used now. Deletes the least recently used sessions of the user, so that at most
    /// [`MAX_SESSIONS`](super::MAX_SESSIONS) are left. The caller has locked the user.
    fn insert(&mut self, new: NewBrowserSession) -> Result<BrowserSession, StoreError>;

    /// Writes a use of a session. An earlier use than the stored one changes nothing.
    fn touch(&mut self, id: BrowserSessionId, at: Timestamp) -> Result<(), StoreError>;

    /// Deletes a session of the user; returns whether the user had it.
    fn remove(&mut self, user: UserId, id: BrowserSessionId) -> Result<bool, StoreError>;

    /// Deletes the session with this hash, if there is one.
    fn remove_by_hash(&mut self, hash: &TokenHash) -> Result<(), StoreError>;

    /// Deletes all sessions of a user, except one if it is given.
    fn remove_all_of(
        &mut self,
        user: UserId,
        except: Option<BrowserSessionId>,
    ) -> Result<(), StoreError>;

    /// Deletes at most `limit` sessions that were last used at `by` or before, remembered ones or others; returns their
    /// number. Sessions that another transaction changes are skipped.
    fn remove_unused(
        &mut self,
        remembered: bool,
        by: Timestamp,
        limit: u32,
    ) -> Result<usize, StoreError>;
}
