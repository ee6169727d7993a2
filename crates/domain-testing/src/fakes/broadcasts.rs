//! Fake of the broadcast messages.

use super::tx::FakeTx;
use hexforge_domain::broadcast::port::Broadcasts;
use hexforge_domain::broadcast::{Broadcast, BroadcastContent};
use hexforge_domain::id::BroadcastId;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;

impl Broadcasts for FakeTx {
    fn list(&mut self, page: Page) -> Result<Paged<Broadcast>, StoreError> {
        Ok(page.slice(self.tables.broadcasts.iter().rev().cloned().collect()))
    }

    fn find(&mut self, id: BroadcastId) -> Result<Option<Broadcast>, StoreError> {
        Ok(self.tables.broadcasts.iter().find(|message| message.id == id).cloned())
    }

    fn lock(&mut self, id: BroadcastId) -> Result<Option<Broadcast>, StoreError> {
        Broadcasts::find(self, id)
    }

    fn insert(&mut self, new: BroadcastContent) -> Result<Broadcast, StoreError> {
        let message = Broadcast { id: BroadcastId(self.next_id()), content: new };
        self.tables.broadcasts.push(message.clone());
        Ok(message)
    }

    fn update(&mut self, message: &Broadcast) -> Result<(), StoreError> {
        for stored in self.tables.broadcasts.iter_mut().filter(|stored| stored.id == message.id) {
            stored.clone_from(message);
        }
        Ok(())
    }

    fn delete(&mut self, id: BroadcastId) -> Result<(), StoreError> {
        self.tables.broadcasts.retain(|message| message.id != id);
        Ok(())
    }
}
