//! The actions that activity events report.

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
    pub(super) const ALL: [EventAction; 13] = [
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
