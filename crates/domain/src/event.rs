//! Activity events: what people did, as the feeds show it.

pub mod port;

use crate::Timestamp;
use crate::id::{EventId, IssueId, ProjectId, UserId};
use crate::push::Push;

/// What somebody did, by the word the feeds use for it.
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
    /// A branch or tag was removed.
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
    /// A membership ended by its date.
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

    /// The word for it in the interface and in the store.
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

    /// The action of that word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == word)
    }
}

/// An event to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    /// Where it happened.
    pub project: ProjectId,
    /// Who did it.
    pub author: UserId,
    /// What was done.
    pub action: EventAction,
    /// To what it was done, where it was not the project itself.
    pub target: Option<EventTarget>,
    /// Details of a push.
    pub push: Option<Box<Push>>,
    /// When it happened.
    pub at: Timestamp,
}

/// The thing an event is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventTarget {
    /// `Issue`, `Note` and so on, as the feeds say it.
    pub kind: String,
    /// Its global id, while it exists.
    pub id: Option<i64>,
    /// Its title when the event was written.
    pub title: Option<String>,
    /// The issue it is or hangs on: who does not see that does not see the event, and it goes with it.
    pub issue: Option<IssueId>,
}

/// A stored event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Assigned by the store, growing with time.
    pub id: EventId,
    /// Where it happened.
    pub project: ProjectId,
    /// Who did it.
    pub author: UserId,
    /// What was done.
    pub action: EventAction,
    /// To what it was done.
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
