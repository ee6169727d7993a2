//! The user who changes issues of a project, and the time of the change.

use hexforge_domain::Timestamp;
use hexforge_domain::id::UserId;

use crate::access::tracker::Tracker;

/// Carried by everything that writes issues, their system notes, events and hook deliveries.
#[derive(Clone, Copy)]
pub(crate) struct Editor<'a> {
    /// The author of what is written.
    pub user: UserId,
    /// The project, with the permissions of the caller. Commits in a push may have another author than the caller.
    pub tracker: &'a Tracker,
    /// The time of the change.
    pub now: Timestamp,
}
