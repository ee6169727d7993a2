//! The port to the outbox.

use super::{OutboxEntry, SystemEvent};
use crate::Timestamp;
use crate::ports::store::StoreError;

/// What waits to be sent.
pub trait Outbox {
    /// Writes down what happened.
    fn record(&mut self, event: &SystemEvent, at: Timestamp) -> Result<(), StoreError>;

    /// The entries that have waited longest, at most `limit`.
    fn oldest(&mut self, limit: u32) -> Result<Vec<OutboxEntry>, StoreError>;
}
