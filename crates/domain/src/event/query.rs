//! Selections of activity events.

use chrono::NaiveDate;

use crate::id::{NamespaceId, UserId};
use crate::issue::query::Clearance;
use crate::project::query::Viewer;

/// A selection of events: those of a feed that a reader may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventSelection {
    /// The feed.
    pub feed: EventFeed,
    /// The reader, who sees the events of the projects that the reader may see.
    pub viewer: Viewer,
    /// As far as which the events of confidential issues are included. Events about snippets that are not public are
    /// included for the team of the project only.
    pub clearance: Clearance,
    /// The day on which memberships and shares have to be valid.
    pub today: NaiveDate,
}

/// A feed of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventFeed {
    /// What a user did.
    Author(UserId),
    /// What happened in the projects of a group or a user.
    Namespace(NamespaceId),
    /// What happened in the projects that a user is authorized for.
    AuthorizedFor(UserId),
}
