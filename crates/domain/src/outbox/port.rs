//! The port to the outbox.

use super::{OutboxBatch, OutboxEntry, SystemEvent};
use crate::Timestamp;
use crate::id::OutboxId;
use crate::ports::store::StoreError;

/// What waits to be sent.
pub trait Outbox {
    /// Writes down what happened.
    fn record(&mut self, event: &SystemEvent, at: Timestamp) -> Result<(), StoreError>;

    /// The entries that have waited longest, at most `limit`.
    fn oldest(&mut self, limit: u32) -> Result<Vec<OutboxEntry>, StoreError>;

    /// Whether any entry waits.
    fn any(&mut self) -> Result<bool, StoreError>;

    /// The entries behind one that have waited longest, at most `limit`. What this program cannot read, another one
    /// may have written, and is passed over. Until the transaction ends nobody else gets any.
    fn next(&mut self, behind: Option<OutboxId>, limit: u32) -> Result<OutboxBatch, StoreError>;

    /// Removes entries of which all has been told.
    fn remove(&mut self, ids: &[OutboxId]) -> Result<(), StoreError>;
}
