//! Issues and merge requests: what users subscribe to, participate in and give emoji to.

pub mod port;

use crate::id::{IssueId, MergeRequestId};

/// An issue or a merge request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Issuable {
    /// An issue.
    Issue(IssueId),
    /// A merge request.
    MergeRequest(MergeRequestId),
}

impl Issuable {
    /// The global id, which is unique among issues or among merge requests.
    pub fn id(self) -> i64 {
        match self {
            Issuable::Issue(issue) => issue.0,
            Issuable::MergeRequest(merge_request) => merge_request.0,
        }
    }

    /// The issue; `None` if it is a merge request.
    pub fn issue(self) -> Option<IssueId> {
        match self {
            Issuable::Issue(issue) => Some(issue),
            Issuable::MergeRequest(_) => None,
        }
    }

    /// The merge request; `None` if it is an issue.
    pub fn merge_request(self) -> Option<MergeRequestId> {
        match self {
            Issuable::Issue(_) => None,
            Issuable::MergeRequest(merge_request) => Some(merge_request),
        }
    }

    /// The name of the type in the API, such as `awardable_type` and `noteable_type`.
    pub fn type_name(self) -> &'static str {
        match self {
            Issuable::Issue(_) => "Issue",
            Issuable::MergeRequest(_) => "MergeRequest",
        }
    }
}

impl From<IssueId> for Issuable {
    fn from(issue: IssueId) -> Self {
        Issuable::Issue(issue)
    }
}

impl From<MergeRequestId> for Issuable {
    fn from(merge_request: MergeRequestId) -> Self {
        Issuable::MergeRequest(merge_request)
    }
}
