//! Activity events with what the feeds show beside them.

use hexforge_domain::event::Event;
use hexforge_domain::user::User;

/// One line of a feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventView {
    /// What happened.
    pub event: Event,
    /// Who did it.
    pub author: User,
}
