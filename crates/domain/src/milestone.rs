//! Milestones: what a part of a project's issues has to be done for.

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
    /// Its number in the project, from 1 on.
    pub iid: i64,
    /// Of which project.
    pub project: ProjectId,
    /// By what people know it; unique in the project.
    pub title: Title,
    /// What it is about.
    pub description: Option<LongText>,
    /// Whether it is still worked for.
    pub state: MilestoneState,
    /// When it is to be done.
    pub due_date: Option<NaiveDate>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// What is needed to make a milestone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMilestone {
    /// See [`Milestone::project`].
    pub project: ProjectId,
    /// See [`Milestone::title`].
    pub title: Title,
    /// See [`Milestone::description`].
    pub description: Option<LongText>,
    /// See [`Milestone::due_date`].
    pub due_date: Option<NaiveDate>,
    /// The moment of creation.
    pub at: Timestamp,
}

/// The title of a milestone or an issue: not blank, at most 255 characters, blanks around it removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title(String);

impl Title {
    /// Reads a title.
    /// # Errors
    /// What is wrong, under `title`.
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

    /// Takes one out of the store.
    pub fn stored(title: String) -> Self {
        Self(title)
    }

    /// The title.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Which milestones a list shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MilestoneFilter {
    /// Only those in this state.
    pub state: Option<MilestoneState>,
    /// Only those of these numbers.
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
            assert_eq!(errors.of("title"), [message], "{given}");
        }
    }
}
