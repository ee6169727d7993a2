//! The port to the subscriptions and participants of issues and merge requests.

use super::{Issuable, IssuableDetails};
use crate::id::UserId;
use crate::ports::store_error::StoreError;
use crate::subscription::Subscribed;

/// The subscriptions and participants of all issues and merge requests. They are deleted together
/// with the issue or merge request, and with the user. The caller locks the project before a change.
pub trait Issuables {
    /// Returns labels and votes of these issues and merge requests, and the subscription of a reader to them, in any
    /// order. Issuables without any of these facts may be left out.
    ///
    /// - The labels are ordered by the bytes of their titles.
    /// - The subscription is the explicit choice of the reader; there may be none.
    /// - A reader who wrote a note on it, was mentioned in it or has given it an award participates. A deleted award
    ///   does not count.
    /// - The votes are the numbers of its awards [`THUMBS_UP`](crate::award::emoji::THUMBS_UP) and
    ///   [`THUMBS_DOWN`](crate::award::emoji::THUMBS_DOWN).
    ///
    /// Awards of the notes on it are neither votes nor participation.
    fn details(
        &mut self,
        reader: UserId,
        of: &[Issuable],
    ) -> Result<Vec<(Issuable, IssuableDetails)>, StoreError>;

    /// Returns the subscription of a user to an issue or merge request: the explicit choice, or [`Subscribed::Yes`] for
    /// a user without a choice who participates in it, as [`details`](Self::details) defines that. `None` for others.
    fn subscription(
        &mut self,
        user: UserId,
        to: Issuable,
    ) -> Result<Option<Subscribed>, StoreError>;

    /// Stores the subscription of a user to an issue or merge request.
    fn subscribe(
        &mut self,
        to: Issuable,
        user: UserId,
        subscribed: Subscribed,
    ) -> Result<(), StoreError>;

    /// Returns at most `limit` users who participate in an issue or merge request, each once, lowest user id first:
    /// authors of its notes, mentioned users, and users with an award on it. A deleted award does not count.
    fn participants(&mut self, on: Issuable, limit: u32) -> Result<Vec<UserId>, StoreError>;

    /// Records that a user participates in an issue or merge request.
    fn participate(&mut self, on: Issuable, user: UserId) -> Result<(), StoreError>;

    /// Records the users with these usernames as participants of an issue or merge request. Unknown
    /// usernames are ignored.
    fn mention(&mut self, on: Issuable, usernames: &[&str]) -> Result<(), StoreError>;
}
