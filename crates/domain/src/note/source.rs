//! What mentioned an issue, where the service wrote that down.

use crate::commit::ObjectId;
use crate::id::{IssueId, ProjectId};

/// Where an issue was mentioned. Only who may see that sees the note about it; of what is gone
/// nobody does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteSource {
    /// In another issue, or in a note on it.
    Issue {
        /// The project of that issue.
        project: ProjectId,
        /// That issue.
        issue: IssueId,
    },
    /// In the message of a commit.
    Commit {
        /// The project to which it was pushed.
        project: ProjectId,
        /// The commit.
        id: ObjectId,
    },
}

impl NoteSource {
    /// In which project it is.
    pub fn project(self) -> ProjectId {
        match self {
            NoteSource::Issue { project, .. } | NoteSource::Commit { project, .. } => project,
        }
    }
}
