//! Notes: what people write on issues, and what the service writes down there.

pub mod commands;
pub mod port;
pub mod source;
pub mod system;

pub use source::NoteSource;

use crate::Timestamp;
use crate::field_errors::FieldErrors;
use crate::id::{IssueId, NoteId, ProjectId, UserId};
use crate::text::{Blank, limit, within_field};

/// A note as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Assigned by the store, never reused.
    pub id: NoteId,
    /// In which project.
    pub project: ProjectId,
    /// On what.
    pub issue: IssueId,
    /// Who wrote it, or did what it tells.
    pub author: UserId,
    /// Who changed it last, if anybody did.
    pub updated_by: Option<UserId>,
    /// What it says.
    pub body: NoteBody,
    /// Whether the service wrote it.
    pub system: bool,
    /// What mentioned the issue, if that is what it tells.
    pub source: Option<NoteSource>,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// What is needed to make a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewNote {
    /// See [`Note::project`].
    pub project: ProjectId,
    /// See [`Note::issue`].
    pub issue: IssueId,
    /// See [`Note::author`].
    pub author: UserId,
    /// See [`Note::body`].
    pub body: NoteBody,
    /// See [`Note::system`].
    pub system: bool,
    /// See [`Note::source`].
    pub source: Option<NoteSource>,
    /// When it is said to have been written.
    pub created_at: Timestamp,
    /// When it is made.
    pub at: Timestamp,
}

/// What a note says: not blank, at most [`limit::LONG`] characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteBody(String);

impl NoteBody {
    /// Reads a body.
    /// # Errors
    /// What is wrong, under `note`.
    pub fn parse(given: &str) -> Result<Self, FieldErrors> {
        if given.trim().is_empty() {
            return Err(FieldErrors::one("note", Blank));
        }
        within_field("note", given, limit::LONG)?;
        Ok(Self(given.to_owned()))
    }

    /// Takes one out of the store.
    pub fn stored(body: String) -> Self {
        Self(body)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_says_something_and_not_too_much() {
        assert!(NoteBody::parse("x").is_ok());
        assert!(NoteBody::parse(&"ü".repeat(limit::LONG)).is_ok());
        for (given, message) in [
            (" \n".to_owned(), "can't be blank"),
            ("x".repeat(limit::LONG + 1), "is too long (maximum is 1048576 characters)"),
        ] {
            assert_eq!(NoteBody::parse(&given).expect_err("wrong").of("note"), [message]);
        }
    }
}
