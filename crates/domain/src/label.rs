//! Labels: words by which issues are found and put in order.

pub mod color;
pub mod group;
pub mod port;
pub mod title;

pub use color::{Color, ColorRule};
pub use group::GroupLabel;
pub use title::LabelTitle;

use crate::Timestamp;
use crate::id::{LabelId, ProjectId};
use crate::text::{Text, limit};

/// A label as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Assigned by the store, never reused.
    pub id: LabelId,
    /// Of which project.
    pub project: ProjectId,
    /// The label of the project's group that it is there; a project's own is none.
    pub of_group: Option<LabelId>,
    /// By what it is known; unique in the project.
    pub title: LabelTitle,
    /// How it is shown.
    pub color: Color,
    /// What it means.
    pub description: Option<LabelDescription>,
    /// How urgent what has it is; 0 is the most urgent.
    pub priority: Option<Priority>,
    /// How many issues have it.
    pub counts: LabelCounts,
}

impl Label {
    /// The id that people see: a group's label has the same in all projects.
    pub fn shown_id(&self) -> LabelId {
        self.of_group.unwrap_or(self.id)
    }
}

/// What a label means.
pub type LabelDescription = Text<{ limit::LABEL_DESCRIPTION }>;

/// How many issues have a label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LabelCounts {
    /// Open ones that everybody sees who sees issues.
    pub open: u32,
    /// Closed ones of these.
    pub closed: u32,
    /// Open ones that are confidential.
    pub open_confidential: u32,
    /// Closed ones of these.
    pub closed_confidential: u32,
}

/// How many issues with a label somebody sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeenCounts {
    /// Open ones.
    pub open: u32,
    /// Closed ones.
    pub closed: u32,
}

impl LabelCounts {
    /// What somebody sees who sees all issues.
    pub fn all(self) -> SeenCounts {
        SeenCounts {
            open: self.open + self.open_confidential,
            closed: self.closed + self.closed_confidential,
        }
    }

    /// What somebody sees who sees these confidential issues and no others.
    pub fn with(self, own: SeenCounts) -> SeenCounts {
        SeenCounts { open: self.open + own.open, closed: self.closed + own.closed }
    }
}

/// How urgent something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priority(i64);

/// A number below 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be greater than or equal to 0")]
pub struct Negative;

impl Priority {
    /// Takes a number from 0 on.
    pub fn parse(number: i64) -> Result<Self, Negative> {
        if number < 0 { Err(Negative) } else { Ok(Self(number)) }
    }

    /// The number.
    pub fn number(self) -> i64 {
        self.0
    }
}

/// What is needed to make a label.
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
    /// The moment of creation.
    pub at: Timestamp,
}

impl NewLabel {
    /// A label that somebody named without saying more.
    pub fn named(title: LabelTitle, at: Timestamp) -> Self {
        Self { title, color: Color::default(), description: None, priority: None, at }
    }
}

/// How a path names a label: by id or by title, whichever is found first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelRef(pub String);

impl LabelRef {
    /// The id, if it may be one.
    pub fn id(&self) -> Option<LabelId> {
        let digits = !self.0.is_empty() && self.0.bytes().all(|b| b.is_ascii_digit());
        if digits { self.0.parse().ok().map(LabelId) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_begin_at_zero() {
        assert_eq!(Priority::parse(0).map(Priority::number), Ok(0));
        assert_eq!(Priority::parse(i64::MAX).map(Priority::number), Ok(i64::MAX));
        assert_eq!(Priority::parse(-1), Err(Negative));
    }

    #[test]
    fn confidential_issues_count_for_those_who_see_them() {
        let counts =
            LabelCounts { open: 3, closed: 2, open_confidential: 5, closed_confidential: 7 };
        assert_eq!(counts.all(), SeenCounts { open: 8, closed: 9 });
        let own = SeenCounts { open: 1, closed: 4 };
        assert_eq!(counts.with(own), SeenCounts { open: 4, closed: 6 });
        assert_eq!(counts.with(SeenCounts::default()), SeenCounts { open: 3, closed: 2 });
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
