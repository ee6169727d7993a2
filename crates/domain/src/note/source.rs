//! The source of a mention: the issue, merge request or commit whose text references a
//! [`Noteable`].

use super::Noteable;
use crate::commit::ObjectId;
use crate::id::{IssueId, MergeRequestId, ProjectId};

/// The issue, merge request or commit that mentioned the subject of a note. Only viewers who may see
/// the source see the note about the mention. If the source was deleted, no viewer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteSource {
    /// Another issue, or a note on it.
    Issue {
        /// The project of the mentioning issue.
        project: ProjectId,
        /// The mentioning issue.
        issue: IssueId,
    },
    /// A merge request, or a note on it.
    MergeRequest {
        /// The target project of the mentioning merge request.
        project: ProjectId,
        /// The mentioning merge request.
        merge_request: MergeRequestId,
    },
    /// The message of a commit, or a note on it.
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
            NoteSource::Issue { project, .. }
            | NoteSource::MergeRequest { project, .. }
            | NoteSource::Commit { project, .. } => project,
        }
    }

    /// The source as the subject of its own notes.
    pub fn noteable(self) -> Noteable {
        match self {
            NoteSource::Issue { issue, .. } => Noteable::Issue(issue),
            NoteSource::MergeRequest { merge_request, .. } => Noteable::MergeRequest(merge_request),
            NoteSource::Commit { project, id } => Noteable::Commit { project, id },
        }
    }
}
