//! The port to the outbox.

use super::{OutboxBatch, OutboxEntry, SystemEvent};
use crate::Timestamp;
use crate::id::OutboxId;
use crate::ports::store_error::StoreError;

/// The stored events that wait for delivery.
pub trait Outbox {
    /// Stores an event.
    fn record(&mut self, event: &SystemEvent, at: Timestamp) -> Result<(), StoreError>;

    /// Returns the oldest entries, at most `limit`.
    fn oldest(&mut self, limit: u32) -> Result<Vec<OutboxEntry>, StoreError>;

    /// Returns whether there is any entry.
    fn any(&mut self) -> Result<bool, StoreError>;

    /// Returns the oldest entries after `behind`, at most `limit`. Locks the outbox until the
    /// transaction ends, so that other callers of this method wait. Entries that this version of the
    /// program cannot read are skipped: another version may have written them.
    fn next(&mut self, behind: Option<OutboxId>, limit: u32) -> Result<OutboxBatch, StoreError>;

    /// Deletes entries whose deliveries have been created.
    fn remove(&mut self, ids: &[OutboxId]) -> Result<(), StoreError>;
}
