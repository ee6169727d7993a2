//! The user who changes issues of a project, and the time of the change.

use hexforge_domain::Timestamp;
use hexforge_domain::id::UserId;

use crate::access::tracker::Tracker;
use crate::todo::TodoWriter;

/// The author and time of a change, passed to every function that writes issues, system notes, events or hook
/// deliveries.
#[derive(Clone, Copy)]
pub(crate) struct Editor<'a> {
    /// The author of the change.
    pub user: UserId,
    /// The project, with the permissions of the caller. Commits in a push may have another author than the caller.
    pub tracker: &'a Tracker,
    /// The time of the change.
    pub now: Timestamp,
}

impl<'a> Editor<'a> {
    /// The writer of the todos that the change causes.
    pub fn todos(self) -> TodoWriter<'a> {
        TodoWriter { tracker: self.tracker, author: self.user, now: self.now }
    }
}
