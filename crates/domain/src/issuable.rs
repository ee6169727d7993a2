//! Issues and merge requests: what users subscribe to, participate in and give emoji to.

pub mod port;

use crate::award::Votes;
use crate::id::{IssueId, MergeRequestId};
use crate::label::LabelTitle;
use crate::subscription::Subscribed;

/// An issue or a merge request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Issuable {
    /// An issue.
    Issue(IssueId),
    /// A merge request.
    MergeRequest(MergeRequestId),
}

/// Labels and votes of an issue or merge request, and the reader's subscription.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IssuableDetails {
    /// The titles of its labels, in order.
    pub labels: Vec<LabelTitle>,
    /// The explicit choice of the reader to be subscribed or not.
    pub subscription: Option<Subscribed>,
    /// Whether the reader participates in it.
    pub participates: bool,
    /// The votes on it.
    pub votes: Votes,
}

impl IssuableDetails {
    /// Returns whether the reader is subscribed: by choice, or by default as a participant. `concerned` tells whether
    /// the reader is the author or the assignee.
    pub fn subscribed(&self, concerned: bool) -> Subscribed {
        self.subscription.unwrap_or(Subscribed::from_bool(concerned || self.participates))
    }
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
