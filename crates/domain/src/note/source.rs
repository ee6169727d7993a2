//! The source of a mention: the issue or commit whose text references an issue.

use crate::commit::ObjectId;
use crate::id::{IssueId, ProjectId};

/// The issue or commit that mentioned an issue. Only viewers who may see the source see the note
/// about the mention. If the source was deleted, no viewer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteSource {
    /// Another issue, or a note on it.
    Issue {
        /// The project of the mentioning issue.
        project: ProjectId,
        /// The mentioning issue.
        issue: IssueId,
    },
    /// The message of a commit.
    Commit {
        /// The project that the commit was pushed to.
        project: ProjectId,
        /// The commit.
        id: ObjectId,
    },
}

impl NoteSource {
    /// The project of the source.
    pub fn project(self) -> ProjectId {
        match self {
            NoteSource::Issue { project, .. } | NoteSource::Commit { project, .. } => project,
        }
    }
}
