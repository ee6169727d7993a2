//! The port to the rows of deleted projects, groups, users and environments.

use super::Step;
use crate::ports::store_error::StoreError;

/// The remaining rows of deleted projects, groups, users and environments. Use cases find rows only through their
/// project, group, user or environment, so these rows are no longer visible.
pub trait Removals {
    /// Waits until no other transaction deletes projects, groups, users or their rows, and makes later
    /// deletions wait for this transaction. A transaction that deletes calls this before it locks
    /// anything, because a row may belong to two entities that are deleted at the same time.
    fn begin(&mut self) -> Result<(), StoreError>;

    /// Returns whether any rows are left to delete.
    fn pending(&mut self) -> Result<bool, StoreError>;

    /// Deletes about `limit` rows at most. Rows that other transactions have locked are left for a
    /// later step.
    fn step(&mut self, limit: u32) -> Result<Step, StoreError>;
}
