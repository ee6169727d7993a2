//! Fake of the outbox.

use super::tx::FakeTx;
use hexforge_domain::Timestamp;
use hexforge_domain::id::OutboxId;
use hexforge_domain::outbox::port::Outbox;
use hexforge_domain::outbox::{OutboxBatch, OutboxEntry, SystemEvent};
use hexforge_domain::ports::store::StoreError;

impl Outbox for FakeTx {
    fn record(&mut self, event: &SystemEvent, at: Timestamp) -> Result<(), StoreError> {
        let id = OutboxId(self.next_id());
        self.tables.outbox.push(OutboxEntry { id, event: event.clone(), at });
        Ok(())
    }

    fn oldest(&mut self, limit: u32) -> Result<Vec<OutboxEntry>, StoreError> {
        Ok(self.tables.outbox.iter().take(limit as usize).cloned().collect())
    }

    fn any(&mut self) -> Result<bool, StoreError> {
        Ok(!self.tables.outbox.is_empty())
    }

    fn next(&mut self, behind: Option<OutboxId>, limit: u32) -> Result<OutboxBatch, StoreError> {
        let all = self.tables.outbox.iter().filter(|entry| Some(entry.id) > behind);
        let entries: Vec<OutboxEntry> = all.take(limit as usize).cloned().collect();
        let last = entries.last().map(|entry| entry.id);
        Ok(OutboxBatch { entries, last })
    }

    fn remove(&mut self, ids: &[OutboxId]) -> Result<(), StoreError> {
        self.tables.outbox.retain(|entry| !ids.contains(&entry.id));
        Ok(())
    }
}
