//! Filters of runner lists.

use chrono::NaiveDate;

use crate::Timestamp;
use crate::id::{ProjectId, UserId};

/// A filter for a list of runners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunnerFilter {
    /// The runners to choose from.
    pub selection: RunnerSelection,
    /// Only runners in this scope.
    pub scope: Option<RunnerScope>,
}

impl RunnerFilter {
    /// All runners.
    pub const ALL: RunnerFilter = RunnerFilter { selection: RunnerSelection::All, scope: None };
}

/// The runners that a list chooses from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunnerSelection {
    /// All runners.
    All,
    /// The runners that are assigned to the project, and all shared ones.
    OfProject(ProjectId),
    /// The specific runners that the user can access on this day; see
    /// [`Runners::is_accessible`](super::port::Runners::is_accessible).
    AccessibleTo {
        /// The user.
        user: UserId,
        /// The date on which memberships must be in force.
        today: NaiveDate,
    },
}

/// The scope of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunnerScope {
    /// Runners that get builds.
    Active,
    /// Runners that get no builds.
    Paused,
    /// Runners that asked for builds after this time.
    Online {
        /// The earliest contact.
        since: Timestamp,
    },
    /// Runners that are not shared.
    Specific,
    /// Shared runners.
    Shared,
}
