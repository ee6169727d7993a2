//! Events of comments on commits, for project hooks.

use super::parts::{Person, ProjectCard};
use super::project::NoteRow;
use crate::commit::ObjectId;
use crate::pipeline::CommitFacts;
use crate::repository::ChangedLine;

/// A new comment of a user on a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitNoteEvent {
    /// The author of the comment.
    pub user: Person,
    /// The project.
    pub project: ProjectCard,
    /// The comment.
    pub note: NoteRow,
    /// The id of the commit.
    pub commit: ObjectId,
    /// Message, author and times of the commit.
    pub facts: CommitFacts,
    /// The line of the diff, if the comment is on one.
    pub line: Option<ChangedLine>,
}
