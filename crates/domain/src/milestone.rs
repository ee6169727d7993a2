//! Milestones, which group issues of a project by a common goal and due date.

pub mod port;
pub mod state;

pub use state::{MilestoneCommand, MilestoneState};

use chrono::NaiveDate;

use crate::Timestamp;
use crate::field_errors::FieldErrors;
use crate::id::{MilestoneId, ProjectId};
use crate::text::{self, Blank, LongText, limit};

/// A milestone as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Milestone {
    /// Assigned by the store, never reused.
    pub id: MilestoneId,
    /// The number in the project, from 1 on.
    pub iid: i64,
    /// The project of the milestone.
    pub project: ProjectId,
    /// The title, unique in the project.
    pub title: Title,
    /// The description.
    pub description: Option<LongText>,
    /// Active or closed.
    pub state: MilestoneState,
    /// The date on which work on it starts.
    pub start_date: Option<NaiveDate>,
    /// The due date.
    pub due_date: Option<NaiveDate>,
    /// The creation time.
    pub created_at: Timestamp,
    /// The time of the last change.
    pub updated_at: Timestamp,
}

/// The input for a new milestone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMilestone {
    /// See [`Milestone::project`].
    pub project: ProjectId,
    /// See [`Milestone::title`].
    pub title: Title,
    /// See [`Milestone::description`].
    pub description: Option<LongText>,
    /// See [`Milestone::start_date`].
    pub start_date: Option<NaiveDate>,
    /// See [`Milestone::due_date`].
    pub due_date: Option<NaiveDate>,
    /// The creation time.
    pub at: Timestamp,
}

/// The title of a milestone or issue: trimmed, not blank, at most 255 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title(String);

crate::text::stored_text!(Title);

impl Title {
    /// Parses a title.
    /// # Errors
    /// All errors of the title, under `title`.
    pub fn parse(given: &str) -> Result<Self, FieldErrors> {
        let title = given.trim();
        let mut errors = FieldErrors::default();
        if title.is_empty() {
            errors.add("title", Blank);
        }
        if let Err(error) = text::within(title, limit::SHORT) {
            errors.add("title", error);
        }
        errors.into_result_with(|| Some(Self(title.to_owned())))
    }
}

/// The filter of a milestone list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MilestoneFilter {
    /// Only milestones in this state.
    pub state: Option<MilestoneState>,
    /// Only milestones with these numbers.
    pub iids: Option<Vec<i64>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_neither_blank_nor_long() {
        assert_eq!(Title::parse(" a b ").map(|title| title.as_str().to_owned()), Ok("a b".into()));
        assert!(Title::parse(&"ü".repeat(255)).is_ok());
        for (given, message) in [
            ("", "can't be blank"),
            (" \n ", "can't be blank"),
            (&"x".repeat(256), "is too long (maximum is 255 characters)"),
        ] {
            let errors = Title::parse(given).expect_err("no title");
            assert_eq!(errors.messages("title"), [message], "{given}");
        }
    }
}
