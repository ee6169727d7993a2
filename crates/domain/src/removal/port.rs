//! The port to the rows of deleted projects, groups and users.

use super::Step;
use crate::ports::store_error::StoreError;

/// Rows of deleted projects, groups and users. Use cases look up the project, group or user first,
/// so no other port returns these rows.
pub trait Removals {
    /// Waits until no other transaction deletes projects, groups, users or their rows. A deleting
    /// transaction calls this before it locks anything, because a row may belong to two entities
    /// that are deleted at the same time.
    fn begin(&mut self) -> Result<(), StoreError>;

    /// Returns whether any rows are left to delete.
    fn pending(&mut self) -> Result<bool, StoreError>;

    /// Deletes about `limit` rows at most. Rows that other transactions have locked are left for a
    /// later step.
    fn step(&mut self, limit: u32) -> Result<Step, StoreError>;
}
