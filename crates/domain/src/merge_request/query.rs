//! Filter and order of merge request lists.

use chrono::NaiveDate;

use crate::id::{NamespaceId, ProjectId, UserId};
use crate::project::query::ListAudience;

/// The filter and order of a list. All conditions are combined with AND.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeRequestFilter {
    /// The set of requests from which the list is taken.
    pub scope: RequestScope,
    /// Only requests in these states.
    pub states: StateFilter,
    /// Only requests with these numbers.
    pub iids: Option<Vec<i64>>,
    /// Further conditions.
    pub conditions: RequestConditions,
    /// The sort column. Ties are ordered by id in the same direction.
    pub order: MergeRequestOrder,
    /// Whether the order is descending.
    pub descending: bool,
}

impl MergeRequestFilter {
    /// Selects all requests of a scope, newest first.
    pub fn newest_first(scope: RequestScope) -> Self {
        Self {
            scope,
            states: StateFilter::All,
            iids: None,
            conditions: RequestConditions::default(),
            order: MergeRequestOrder::CreatedAt,
            descending: true,
        }
    }
}

/// The set of requests from which a list is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestScope {
    /// The requests into one project.
    Project(ProjectId),
    /// The requests that are assigned to a user, into projects that the audience may see and that have merge requests
    /// enabled. The date is that on which memberships and shares must be in force.
    AssignedTo(UserId, ListAudience, NaiveDate),
    /// Like [`AssignedTo`](Self::AssignedTo), for the requests that a user wrote.
    AuthoredBy(UserId, ListAudience, NaiveDate),
    /// The merge requests whose target project is in a group and has merge requests enabled. The list has those that
    /// the viewer may read: all of a project whose code the viewer sees; of other visible projects, those that the
    /// viewer wrote or is assigned to.
    Group(NamespaceId, ListAudience, NaiveDate),
}

/// Conditions on people, labels and texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestConditions {
    /// Only requests of this author.
    pub author: Option<UserId>,
    /// Only requests that are assigned to this user.
    pub assignee: Option<UserId>,
    /// Only requests of a milestone with this title.
    pub milestone: Option<String>,
    /// Only requests with all of these labels.
    pub labels: Vec<String>,
    /// Only requests whose title or description contains this text. ASCII case is ignored.
    pub search: Option<String>,
}

/// A condition on the state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StateFilter {
    /// Opened and reopened requests.
    Open,
    /// Closed requests; merged ones are not closed.
    Closed,
    /// Merged requests.
    Merged,
    /// All requests.
    #[default]
    All,
}

/// The sort column of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MergeRequestOrder {
    /// The creation time.
    #[default]
    CreatedAt,
    /// The time of the last change.
    UpdatedAt,
}
