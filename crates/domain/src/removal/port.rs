//! The port to rows of removed projects, groups and users.

use super::Step;
use crate::ports::store::StoreError;

/// Rows of removed projects, groups and users. Use cases look up the project, group or user first, so no other port
/// shows these rows.
pub trait Removals {
    /// Waits until no other transaction removes projects, groups, users or their rows. A transaction that removes one
    /// calls this before it locks anything: a row may belong to two things that are removed at once.
    fn begin(&mut self) -> Result<(), StoreError>;

    /// Returns whether any rows are left to remove.
    fn pending(&mut self) -> Result<bool, StoreError>;

    /// Removes at most about `limit` rows. Rows that other transactions have locked are left for a later step.
    fn step(&mut self, limit: u32) -> Result<Step, StoreError>;
}
