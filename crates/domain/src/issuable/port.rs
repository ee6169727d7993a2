//! The port to the subscriptions and participants of issues and merge requests.

use super::Issuable;
use crate::id::UserId;
use crate::ports::store_error::StoreError;
use crate::subscription::Subscribed;

/// The subscriptions and participants of all issues and merge requests. They are deleted together
/// with the issue or merge request, and with the user. The caller locks the project before a change.
pub trait Issuables {
    /// Returns the subscriptions of a user to these issues and merge requests. Those without an
    /// explicit choice are left out.
    fn subscriptions(
        &mut self,
        user: UserId,
        to: &[Issuable],
    ) -> Result<Vec<(Issuable, Subscribed)>, StoreError>;

    /// Stores the subscription of a user to an issue or merge request.
    fn subscribe(
        &mut self,
        to: Issuable,
        user: UserId,
        subscribed: Subscribed,
    ) -> Result<(), StoreError>;

    /// Returns those of these issues and merge requests in which a user participates: the user wrote
    /// a note on it, was mentioned in it, or has given it an award. Each is returned once.
    fn participations(
        &mut self,
        user: UserId,
        among: &[Issuable],
    ) -> Result<Vec<Issuable>, StoreError>;

    /// Returns at most `limit` users who participate in an issue or merge request as
    /// [`participations`](Self::participations) tells, each once, lowest user id first.
    fn participants(&mut self, on: Issuable, limit: u32) -> Result<Vec<UserId>, StoreError>;

    /// Records that a user participates in an issue or merge request.
    fn participate(&mut self, on: Issuable, user: UserId) -> Result<(), StoreError>;

    /// Records the users with these usernames as participants of an issue or merge request. Unknown
    /// usernames are ignored.
    fn mention(&mut self, on: Issuable, usernames: &[&str]) -> Result<(), StoreError>;
}
