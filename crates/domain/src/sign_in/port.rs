//! The port to the failed sign-ins.

use super::Failures;
use crate::Timestamp;
use crate::id::UserId;
use crate::ports::store::StoreError;

/// Failed sign-ins by subject: an account or an address. Stored rather than kept in memory, so that
/// several server processes brake together.
pub trait SignInFailures {
    /// What is known of a subject. In a transaction that writes, nobody else gets an answer about the
    /// same subject until it ends, so that no failure is lost.
    fn find(&mut self, subject: &str) -> Result<Option<Failures>, StoreError>;

    /// Remembers the failures of a subject in place of what was known.
    fn put(&mut self, subject: &str, failures: Failures) -> Result<(), StoreError>;

    /// Forgets a subject.
    fn clear(&mut self, subject: &str) -> Result<(), StoreError>;

    /// Forgets every subject whose count began before a moment.
    fn forget_before(&mut self, moment: Timestamp) -> Result<(), StoreError>;
}

/// Networks from which users signed in, each as a text that only the caller of the port can make.
pub trait SignInAddresses {
    /// Whether the user signed in from the network at `since` or later.
    fn is_known(
        &mut self,
        user: UserId,
        network: &str,
        since: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Remembers that the user signed in from the network at `at`. Forgets networks of the user that were last
    /// seen before `since`, and all but the [`MOST_NETWORKS`](super::MOST_NETWORKS) seen last. The transaction holds
    /// the user.
    fn remember(
        &mut self,
        user: UserId,
        network: &str,
        at: Timestamp,
        since: Timestamp,
    ) -> Result<(), StoreError>;
}
