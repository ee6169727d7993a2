//! The ports to failed sign-ins and to the networks of successful ones.

use super::Failures;
use crate::Timestamp;
use crate::id::UserId;
use crate::ports::store_error::StoreError;

/// Failed sign-ins by subject: an account or an address. They are stored rather than kept in
/// memory, so that several server processes share the rate limit.
pub trait SignInFailures {
    /// Returns the failures of a subject. In a write transaction, the subject is locked until the
    /// transaction ends, so that no failure is lost.
    fn find(&mut self, subject: &str) -> Result<Option<Failures>, StoreError>;

    /// Stores the failures of a subject, replacing previous ones.
    fn put(&mut self, subject: &str, failures: Failures) -> Result<(), StoreError>;

    /// Deletes the failures of a subject.
    fn clear(&mut self, subject: &str) -> Result<(), StoreError>;

    /// Deletes the failures of all subjects whose count began before a moment.
    fn forget_before(&mut self, moment: Timestamp) -> Result<(), StoreError>;
}

/// The networks from which users signed in. The caller of the port passes each network as a text that
/// nobody else can compute from the address, such as a token of the
/// [`Vault`](crate::ports::vault::Vault).
pub trait SignInAddresses {
    /// Returns whether the user signed in from the network at `since` or later.
    fn is_known(
        &mut self,
        user: UserId,
        network: &str,
        since: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Records a sign-in of the user from the network at `at`. Deletes networks of the user that
    /// were last used before `since`, and all but the [`MAX_NETWORKS`](super::MAX_NETWORKS) most
    /// recent ones. The caller has locked the user.
    fn remember(
        &mut self,
        user: UserId,
        network: &str,
        at: Timestamp,
        since: Timestamp,
    ) -> Result<(), StoreError>;
}
