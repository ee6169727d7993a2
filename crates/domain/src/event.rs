//! Activity events, as the feeds show them.

pub mod action;
pub mod port;
pub mod query;

pub use action::EventAction;

use crate::Timestamp;
use crate::id::{EventId, ProjectId, UserId};
use crate::note::Noteable;
use crate::push::Push;

/// An event to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    /// The project of the event.
    pub project: ProjectId,
    /// The user who acted.
    pub author: UserId,
    /// The action.
    pub action: EventAction,
    /// The object of the action, unless it is the project itself.
    pub target: Option<EventTarget>,
    /// Details of a push.
    pub push: Option<Box<Push>>,
    /// When it happened.
    pub at: Timestamp,
}

/// The object of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventTarget {
    /// The type, such as `Issue` or `Note`, as the feeds name it.
    pub kind: String,
    /// The global id, while the object exists.
    pub id: Option<i64>,
    /// The title at the time of the event.
    pub title: Option<String>,
    /// The issue, merge request or snippet that is the object or to which it belongs; never a commit. The event is
    /// deleted with it. Events of an issue or snippet are hidden from users who may not see it.
    pub belongs_to: Option<Noteable>,
}

/// A stored event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Assigned by the store, growing with time.
    pub id: EventId,
    /// The project of the event.
    pub project: ProjectId,
    /// The user who acted.
    pub author: UserId,
    /// The action.
    pub action: EventAction,
    /// The object of the action, unless it is the project itself.
    pub target: Option<EventTarget>,
    /// Details of a push.
    pub push: Option<Box<Push>>,
    /// When it happened.
    pub created_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_is_found_by_its_word() {
        for action in EventAction::ALL {
            assert_eq!(EventAction::parse(action.as_str()), Some(action));
        }
        assert_eq!(EventAction::parse("reopened"), None);
    }
}
