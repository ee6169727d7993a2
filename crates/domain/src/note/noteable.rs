//! The subject of a note.

use crate::commit::ObjectId;
use crate::id::{IssueId, MergeRequestId, ProjectId, SnippetId};
use crate::issuable::Issuable;

/// The issue, merge request, snippet or commit that a note is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Noteable {
    /// An issue.
    Issue(IssueId),
    /// A merge request.
    MergeRequest(MergeRequestId),
    /// A snippet of a project.
    Snippet(SnippetId),
    /// A commit. The same commit in another project has other notes.
    Commit {
        /// The project in which the note was written.
        project: ProjectId,
        /// The commit.
        id: ObjectId,
    },
}

impl Noteable {
    /// The issue or merge request; `None` if it is a snippet or commit.
    pub fn issuable(self) -> Option<Issuable> {
        match self {
            Noteable::Issue(issue) => Some(Issuable::Issue(issue)),
            Noteable::MergeRequest(merge_request) => Some(Issuable::MergeRequest(merge_request)),
            Noteable::Snippet(_) | Noteable::Commit { .. } => None,
        }
    }

    /// The snippet; `None` if it is something else.
    pub fn snippet(self) -> Option<SnippetId> {
        match self {
            Noteable::Snippet(snippet) => Some(snippet),
            Noteable::Issue(_) | Noteable::MergeRequest(_) | Noteable::Commit { .. } => None,
        }
    }

    /// The id of the issue, merge request or snippet; `None` if it is a commit.
    pub fn id(self) -> Option<i64> {
        match self {
            Noteable::Issue(IssueId(id))
            | Noteable::MergeRequest(MergeRequestId(id))
            | Noteable::Snippet(SnippetId(id)) => Some(id),
            Noteable::Commit { .. } => None,
        }
    }

    /// The commit; `None` if it is something else.
    pub fn commit(self) -> Option<ObjectId> {
        match self {
            Noteable::Issue(_) | Noteable::MergeRequest(_) | Noteable::Snippet(_) => None,
            Noteable::Commit { id, .. } => Some(id),
        }
    }

    /// The name of the type in the API.
    pub fn type_name(self) -> &'static str {
        match self {
            Noteable::Issue(issue) => Issuable::Issue(issue).type_name(),
            Noteable::MergeRequest(request) => Issuable::MergeRequest(request).type_name(),
            Noteable::Snippet(_) => "Snippet",
            Noteable::Commit { .. } => "Commit",
        }
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

impl From<SnippetId> for Noteable {
    fn from(snippet: SnippetId) -> Self {
        Noteable::Snippet(snippet)
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
