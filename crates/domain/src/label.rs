//! Labels, which classify the issues of a project.

pub mod color;
pub mod group;
pub mod port;
pub mod title;

pub use color::{Color, ColorRule};
pub use group::GroupLabel;
pub use title::LabelTitle;

use crate::Timestamp;
use crate::id::{self, LabelId, ProjectId};
use crate::text::{Text, limit};

/// A label as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Assigned by the store, never reused.
    pub id: LabelId,
    /// The project of the label.
    pub project: ProjectId,
    /// The group label, if this row is the copy of a group label in the project; `None` for a label
    /// of the project itself.
    pub of_group: Option<LabelId>,
    /// The title, unique in the project.
    pub title: LabelTitle,
    /// The colour.
    pub color: Color,
    /// The description.
    pub description: Option<LabelDescription>,
    /// The priority of issues with the label; 0 is the highest.
    pub priority: Option<Priority>,
    /// The number of issues with the label.
    pub counts: LabelCounts,
}

impl Label {
    /// The id in the API. A group label has the same id in all projects of the group.
    pub fn shown_id(&self) -> LabelId {
        self.of_group.unwrap_or(self.id)
    }
}

/// The description of a label.
pub type LabelDescription = Text<{ limit::LABEL_DESCRIPTION }>;

/// The number of issues with a label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LabelCounts {
    /// Open issues that are not confidential.
    pub open: u32,
    /// Closed issues that are not confidential.
    pub closed: u32,
    /// Open confidential issues.
    pub open_confidential: u32,
    /// Closed confidential issues.
    pub closed_confidential: u32,
}

/// The number of issues with a label that a viewer may see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VisibleCounts {
    /// Open issues.
    pub open: u32,
    /// Closed issues.
    pub closed: u32,
}

impl LabelCounts {
    /// The counts for a viewer who may see all confidential issues.
    pub fn all(self) -> VisibleCounts {
        VisibleCounts {
            open: self.open + self.open_confidential,
            closed: self.closed + self.closed_confidential,
        }
    }

    /// The counts for a viewer who may see only `own` of the confidential issues.
    pub fn with(self, own: VisibleCounts) -> VisibleCounts {
        VisibleCounts { open: self.open + own.open, closed: self.closed + own.closed }
    }
}

/// The priority of a label; 0 is the highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priority(i64);

/// Error for a negative priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be greater than or equal to 0")]
pub struct NegativePriority;

impl Priority {
    /// Parses a priority, which must not be negative.
    pub fn parse(number: i64) -> Result<Self, NegativePriority> {
        if number < 0 { Err(NegativePriority) } else { Ok(Self(number)) }
    }

    /// The number.
    pub fn number(self) -> i64 {
        self.0
    }
}

/// The input for a new label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLabel {
    /// See [`Label::title`].
    pub title: LabelTitle,
    /// See [`Label::color`].
    pub color: Color,
    /// See [`Label::description`].
    pub description: Option<LabelDescription>,
    /// See [`Label::priority`].
    pub priority: Option<Priority>,
    /// The creation time.
    pub at: Timestamp,
}

impl NewLabel {
    /// A label with default values, for a title that an issue names and the project lacks.
    pub fn with_title(title: LabelTitle, at: Timestamp) -> Self {
        Self { title, color: Color::default(), description: None, priority: None, at }
    }
}

/// A reference to a label in a URL path: an id or a title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelRef(pub String);

impl LabelRef {
    /// The reference as an id, if it consists of digits only.
    pub fn id(&self) -> Option<LabelId> {
        id::parse(&self.0).map(LabelId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_begin_at_zero() {
        assert_eq!(Priority::parse(0).map(Priority::number), Ok(0));
        assert_eq!(Priority::parse(i64::MAX).map(Priority::number), Ok(i64::MAX));
        assert_eq!(Priority::parse(-1), Err(NegativePriority));
    }

    #[test]
    fn confidential_issues_count_for_those_who_see_them() {
        let counts =
            LabelCounts { open: 3, closed: 2, open_confidential: 5, closed_confidential: 7 };
        assert_eq!(counts.all(), VisibleCounts { open: 8, closed: 9 });
        let own = VisibleCounts { open: 1, closed: 4 };
        assert_eq!(counts.with(own), VisibleCounts { open: 4, closed: 6 });
        assert_eq!(counts.with(VisibleCounts::default()), VisibleCounts { open: 3, closed: 2 });
    }

    #[test]
    fn digits_may_be_an_id() {
        for (text, id) in
            [("7", Some(7)), ("", None), ("bug", None), ("-1", None), ("9999999999999999999", None)]
        {
            assert_eq!(LabelRef(text.to_owned()).id(), id.map(LabelId), "{text}");
        }
    }
}
