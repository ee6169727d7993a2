//! Activity events, as the feeds show them.

pub mod port;

use crate::Timestamp;
use crate::id::{EventId, IssueId, ProjectId, UserId};
use crate::push::Push;

/// The action of a user, named as in the feeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventAction {
    /// A project was created.
    Created,
    /// A project was created by import.
    Imported,
    /// An issue, merge request or milestone was opened or reopened.
    Opened,
    /// An issue, merge request or milestone was closed.
    Closed,
    /// A branch or tag was created.
    PushedNew,
    /// A branch or tag was moved.
    PushedTo,
    /// A branch or tag was deleted.
    Deleted,
    /// A comment was written.
    CommentedOn,
    /// A merge request was merged.
    Accepted,
    /// A member joined a project.
    Joined,
    /// A member left a project.
    Left,
    /// A milestone was deleted.
    Destroyed,
    /// A membership expired.
    Expired,
}

impl EventAction {
    const ALL: [EventAction; 13] = [
        EventAction::Created,
        EventAction::Imported,
        EventAction::Opened,
        EventAction::Closed,
        EventAction::PushedNew,
        EventAction::PushedTo,
        EventAction::Deleted,
        EventAction::CommentedOn,
        EventAction::Accepted,
        EventAction::Joined,
        EventAction::Left,
        EventAction::Destroyed,
        EventAction::Expired,
    ];

    /// The name of the action in the API and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            EventAction::Created => "created",
            EventAction::Imported => "imported",
            EventAction::Opened => "opened",
            EventAction::Closed => "closed",
            EventAction::PushedNew => "pushed new",
            EventAction::PushedTo => "pushed to",
            EventAction::Deleted => "deleted",
            EventAction::CommentedOn => "commented on",
            EventAction::Accepted => "accepted",
            EventAction::Joined => "joined",
            EventAction::Left => "left",
            EventAction::Destroyed => "destroyed",
            EventAction::Expired => "removed due to membership expiration from",
        }
    }

    /// Parses the name of an action.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == word)
    }
}

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
    /// The issue that is the object or to which it belongs. The event is hidden from users who may not see the issue,
    /// and is deleted with it.
    pub issue: Option<IssueId>,
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
