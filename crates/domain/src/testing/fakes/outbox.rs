//! The outbox in memory.

use super::tx::FakeTx;
use crate::Timestamp;
use crate::id::OutboxId;
use crate::outbox::port::Outbox;
use crate::outbox::{OutboxEntry, SystemEvent};
use crate::ports::store::StoreError;

impl Outbox for FakeTx {
    fn record(&mut self, event: &SystemEvent, at: Timestamp) -> Result<(), StoreError> {
        let id = OutboxId(self.next_id());
        self.tables.outbox.push(OutboxEntry { id, event: event.clone(), at });
        Ok(())
    }

    fn oldest(&mut self, limit: u32) -> Result<Vec<OutboxEntry>, StoreError> {
        Ok(self.tables.outbox.iter().take(limit as usize).cloned().collect())
    }
}
