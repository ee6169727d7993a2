//! The activity in memory.

use super::tx::FakeTx;
use crate::event::port::Events;
use crate::event::{Event, NewEvent};
use crate::id::{EventId, UserId};
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;

impl Events for FakeTx {
    fn insert(&mut self, new: NewEvent) -> Result<Event, StoreError> {
        self.require(new.author)?;
        let event = Event {
            id: EventId(self.next_id()),
            project: new.project,
            author: new.author,
            action: new.action,
            target: new.target,
            data: new.data,
            created_at: new.at,
        };
        self.tables.events.push(event.clone());
        Ok(event)
    }

    fn authored_by(&mut self, author: UserId, page: Page) -> Result<Paged<Event>, StoreError> {
        let newest_first = self.tables.events.iter().rev();
        Ok(page.cut(newest_first.filter(|event| event.author == author).cloned().collect()))
    }
}
