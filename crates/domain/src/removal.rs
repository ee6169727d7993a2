//! Rows that removed projects, groups and users leave behind. The transaction that removes a project, group or user
//! hides it from everybody. Rows of which there may be very many are removed afterwards, in steps.

pub mod port;

use crate::id::ProjectId;

/// The outcome of one removal step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// No rows are left to remove.
    Nothing,
    /// Rows were removed, and there may be more.
    Rows,
    /// The last rows of this project were removed, so its files may be discarded.
    Project(ProjectId),
}
