//! Notes: comments of users on issues, merge requests and commits, and system notes about changes.

pub mod commands;
pub mod noteable;
pub mod port;
pub mod position;
pub mod pushed_commits;
pub mod source;
pub mod system;
pub mod task_list;
mod title_diff;

pub use noteable::Noteable;
pub use position::{NoteLine, NotePosition};
pub use source::NoteSource;

use crate::Timestamp;
use crate::field_errors::FieldErrors;
use crate::id::{NoteId, ProjectId, UserId};
use crate::text::{Blank, limit, within_field};

/// A note as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Assigned by the store, never reused.
    pub id: NoteId,
    /// The project of the issue, merge request or commit.
    pub project: ProjectId,
    /// The issue, merge request or commit.
    pub on: Noteable,
    /// The line of the diff of the commit or merge request, if the note is about one.
    pub position: Option<NotePosition>,
    /// The author of the comment, or the user whose change a system note describes.
    pub author: UserId,
    /// The last editor, if the note was edited.
    pub updated_by: Option<UserId>,
    /// The text.
    pub body: NoteBody,
    /// Whether this is a system note.
    pub system: bool,
    /// The issue, merge request or commit that mentioned [`on`](Self::on), if this is a system note
    /// about a mention.
    pub source: Option<NoteSource>,
    /// The creation time.
    pub created_at: Timestamp,
    /// The time of the last change.
    pub updated_at: Timestamp,
}

/// The input for a new note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewNote {
    /// See [`Note::project`].
    pub project: ProjectId,
    /// See [`Note::on`].
    pub on: Noteable,
    /// See [`Note::position`].
    pub position: Option<NotePosition>,
    /// See [`Note::author`].
    pub author: UserId,
    /// See [`Note::body`].
    pub body: NoteBody,
    /// See [`Note::system`].
    pub system: bool,
    /// See [`Note::source`].
    pub source: Option<NoteSource>,
    /// See [`Note::created_at`]. Callers with the permission may choose it.
    pub created_at: Timestamp,
    /// The first value of [`Note::updated_at`].
    pub at: Timestamp,
}

/// The text of a note: not blank, at most [`limit::LONG`] characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteBody(String);

crate::text::stored_text!(NoteBody);

impl NoteBody {
    /// Parses the text of a note.
    /// # Errors
    /// The first error of the text, under `note`.
    pub fn parse(given: &str) -> Result<Self, FieldErrors> {
        if given.trim().is_empty() {
            return Err(FieldErrors::single("note", Blank));
        }
        within_field("note", given, limit::LONG)?;
        Ok(Self(given.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_neither_blank_nor_too_long() {
        assert!(NoteBody::parse("x").is_ok());
        assert!(NoteBody::parse(&"ü".repeat(limit::LONG)).is_ok());
        for (given, message) in [
            (" \n".to_owned(), "can't be blank"),
            ("x".repeat(limit::LONG + 1), "is too long (maximum is 1048576 characters)"),
        ] {
            assert_eq!(NoteBody::parse(&given).expect_err("wrong").messages("note"), [message]);
        }
    }
}
