//! The subject of a note.

use crate::commit::ObjectId;
use crate::id::{IssueId, MergeRequestId, ProjectId};
use crate::issuable::Issuable;

/// The issue, merge request or commit that a note is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Noteable {
    /// An issue.
    Issue(IssueId),
    /// A merge request.
    MergeRequest(MergeRequestId),
    /// A commit. The same commit in another project has other notes.
    Commit {
        /// The project in which the note was written.
        project: ProjectId,
        /// The commit.
        id: ObjectId,
    },
}

impl Noteable {
    /// The issue or merge request; `None` if it is a commit.
    pub fn issuable(self) -> Option<Issuable> {
        match self {
            Noteable::Issue(issue) => Some(Issuable::Issue(issue)),
            Noteable::MergeRequest(merge_request) => Some(Issuable::MergeRequest(merge_request)),
            Noteable::Commit { .. } => None,
        }
    }

    /// The commit; `None` if it is an issue or merge request.
    pub fn commit(self) -> Option<ObjectId> {
        match self {
            Noteable::Issue(_) | Noteable::MergeRequest(_) => None,
            Noteable::Commit { id, .. } => Some(id),
        }
    }

    /// The name of the type in the API.
    pub fn type_name(self) -> &'static str {
        self.issuable().map_or("Commit", Issuable::type_name)
    }
}

impl From<IssueId> for Noteable {
    fn from(issue: IssueId) -> Self {
        Noteable::Issue(issue)
    }
}

impl From<MergeRequestId> for Noteable {
    fn from(merge_request: MergeRequestId) -> Self {
        Noteable::MergeRequest(merge_request)
    }
}

impl From<Issuable> for Noteable {
    fn from(issuable: Issuable) -> Self {
        match issuable {
            Issuable::Issue(issue) => Noteable::Issue(issue),
            Issuable::MergeRequest(merge_request) => Noteable::MergeRequest(merge_request),
        }
    }
}
