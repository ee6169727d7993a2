//! Notification settings: which notifications a user wants, for everything and per group or project.

pub mod port;

use crate::id::{NamespaceId, ProjectId};
use crate::user::EmailAddress;

/// The scope of notification settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NotificationScope {
    /// Everything that has no settings of its own.
    Global,
    /// The projects of a group.
    Group(NamespaceId),
    /// A project.
    Project(ProjectId),
}

impl NotificationScope {
    /// The level until the user chooses one.
    pub fn default_level(self) -> NotificationLevel {
        match self {
            Self::Global => NotificationLevel::Participating,
            Self::Group(_) | Self::Project(_) => NotificationLevel::Global,
        }
    }
}

/// How much a user wants to be notified about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotificationLevel {
    /// Nothing.
    Disabled,
    /// What the user takes part in.
    Participating,
    /// Everything.
    Watch,
    /// What the settings of the user for everything say.
    Global,
    /// Mentions of the user.
    Mention,
    /// The chosen events; see [`NotificationEvents`].
    Custom,
}

impl NotificationLevel {
    /// All levels, in the order of their numbers.
    pub const ALL: [Self; 6] = [
        Self::Disabled,
        Self::Participating,
        Self::Watch,
        Self::Global,
        Self::Mention,
        Self::Custom,
    ];

    /// The name in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Participating => "participating",
            Self::Watch => "watch",
            Self::Global => "global",
            Self::Mention => "mention",
            Self::Custom => "custom",
        }
    }

    /// The number in the permissions of a project, and in the database.
    pub fn number(self) -> i32 {
        match self {
            Self::Disabled => 0,
            Self::Participating => 1,
            Self::Watch => 2,
            Self::Global => 3,
            Self::Mention => 4,
            Self::Custom => 5,
        }
    }

    /// Returns the level with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }

    /// Returns the level with this number.
    pub fn from_number(number: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.number() == number)
    }
}

/// A kind of event that a user can choose with the level [`NotificationLevel::Custom`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotificationEvent {
    /// A new note.
    NewNote,
    /// A new issue.
    NewIssue,
    /// An issue was reopened.
    ReopenIssue,
    /// An issue was closed.
    CloseIssue,
    /// An issue has another assignee.
    ReassignIssue,
    /// A new merge request.
    NewMergeRequest,
    /// A merge request was reopened.
    ReopenMergeRequest,
    /// A merge request was closed.
    CloseMergeRequest,
    /// A merge request has another assignee.
    ReassignMergeRequest,
    /// A merge request was merged.
    MergeMergeRequest,
    /// A pipeline failed.
    FailedPipeline,
    /// A pipeline succeeded.
    SuccessPipeline,
}

impl NotificationEvent {
    /// All events, in the order of the API.
    pub const ALL: [Self; 12] = [
        Self::NewNote,
        Self::NewIssue,
        Self::ReopenIssue,
        Self::CloseIssue,
        Self::ReassignIssue,
        Self::NewMergeRequest,
        Self::ReopenMergeRequest,
        Self::CloseMergeRequest,
        Self::ReassignMergeRequest,
        Self::MergeMergeRequest,
        Self::FailedPipeline,
        Self::SuccessPipeline,
    ];

    fn bit(self) -> i32 {
        1 << (self as i32)
    }
}

/// A set of [`NotificationEvent`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NotificationEvents(i32);

impl NotificationEvents {
    /// Returns whether the set contains an event.
    pub fn contains(self, event: NotificationEvent) -> bool {
        self.0 & event.bit() != 0
    }

    /// The stored form: one bit per event, in the order of [`NotificationEvent::ALL`].
    pub fn bits(self) -> i32 {
        self.0
    }

    /// The set with this stored form. Unknown bits are ignored.
    pub fn from_bits(bits: i32) -> Self {
        NotificationEvent::ALL.into_iter().filter(|event| bits & event.bit() != 0).collect()
    }
}

impl FromIterator<NotificationEvent> for NotificationEvents {
    fn from_iter<I: IntoIterator<Item = NotificationEvent>>(events: I) -> Self {
        Self(events.into_iter().fold(0, |bits, event| bits | event.bit()))
    }
}

/// The notification settings of a user in one scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotificationSetting {
    /// The level.
    pub level: NotificationLevel,
    /// The chosen events. They are kept while the level is not [`NotificationLevel::Custom`].
    pub events: NotificationEvents,
    /// The address for notifications in [`NotificationScope::Global`]; the primary address of the user if it is `None`
    /// or no longer an address of the user.
    pub address: Option<EmailAddress>,
}

impl NotificationSetting {
    /// The settings until the user changes them.
    pub fn default_of(scope: NotificationScope) -> Self {
        let (level, events) = (scope.default_level(), NotificationEvents::default());
        Self { level, events, address: None }
    }
}

/// A change of notification settings. Everything that is not given stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotificationChange {
    /// The new level.
    pub level: Option<NotificationLevel>,
    /// The events to add.
    pub added: NotificationEvents,
    /// The events to remove.
    pub removed: NotificationEvents,
    /// The new address.
    pub address: Option<EmailAddress>,
}

impl NotificationChange {
    /// Applies the change to settings.
    #[must_use]
    pub fn apply(&self, to: NotificationSetting) -> NotificationSetting {
        let events = to.events.bits() & !self.removed.bits() | self.added.bits();
        NotificationSetting {
            level: self.level.unwrap_or(to.level),
            events: NotificationEvents::from_bits(events),
            address: self.address.clone().or(to.address),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use NotificationEvent::{CloseIssue, NewNote, SuccessPipeline};

    #[test]
    fn levels_have_names_and_numbers() {
        let names = ["disabled", "participating", "watch", "global", "mention", "custom"];
        for ((level, name), number) in NotificationLevel::ALL.into_iter().zip(names).zip(0..) {
            assert_eq!((level.as_str(), level.number()), (name, number));
            assert_eq!(NotificationLevel::from_name(name), Some(level));
            assert_eq!(NotificationLevel::from_number(number), Some(level));
        }
        for name in ["", "Watch", "invalid"] {
            assert_eq!(NotificationLevel::from_name(name), None, "{name}");
        }
        assert_eq!([6, -1].map(NotificationLevel::from_number), [None, None]);
    }

    #[test]
    fn sets_of_events_are_stored_as_bits() {
        let all: NotificationEvents = NotificationEvent::ALL.into_iter().collect();
        assert_eq!((all.bits(), NotificationEvents::from_bits(-1)), (0xfff, all));
        for (bit, event) in NotificationEvent::ALL.into_iter().enumerate() {
            let one: NotificationEvents = [event].into_iter().collect();
            assert_eq!(one.bits(), 1 << bit);
            let contained = NotificationEvent::ALL.map(|other| one.contains(other));
            assert_eq!(contained, NotificationEvent::ALL.map(|other| other == event));
        }
    }

    #[test]
    fn a_change_keeps_what_is_not_given() {
        let set = |events: &[NotificationEvent]| events.iter().copied().collect();
        let scope = NotificationScope::Project(ProjectId(1));
        let default = NotificationSetting::default_of(scope);
        assert_eq!(default.level, NotificationLevel::Global);
        let global = NotificationSetting::default_of(NotificationScope::Global);
        assert_eq!(global.level, NotificationLevel::Participating);
        assert_eq!(NotificationChange::default().apply(default.clone()), default);
        let first = NotificationChange { added: set(&[NewNote, CloseIssue]), ..Default::default() };
        let first = first.apply(default);
        assert_eq!(first.events, set(&[NewNote, CloseIssue]));
        let second = NotificationChange {
            level: Some(NotificationLevel::Custom),
            added: set(&[SuccessPipeline]),
            removed: set(&[NewNote]),
            address: None,
        };
        let second = second.apply(first);
        assert_eq!(second.level, NotificationLevel::Custom);
        assert_eq!(second.events, set(&[CloseIssue, SuccessPipeline]));
    }
}
