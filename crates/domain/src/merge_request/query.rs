//! Filter and order of merge request lists.

use crate::id::ProjectId;

/// The filter and order of a list. All conditions are combined with AND.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeRequestFilter {
    /// The target project.
    pub project: ProjectId,
    /// Only requests in these states.
    pub states: StateFilter,
    /// Only requests with these numbers.
    pub iids: Option<Vec<i64>>,
    /// The sort column. Ties are ordered by id in the same direction.
    pub order: MergeRequestOrder,
    /// Whether the order is descending.
    pub descending: bool,
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
