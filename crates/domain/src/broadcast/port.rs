//! The port to the stored broadcast messages.

use super::{Broadcast, BroadcastContent};
use crate::id::BroadcastId;
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;

/// All broadcast messages.
pub trait Broadcasts {
    /// Returns a page of the messages, newest first.
    fn list(&mut self, page: Page) -> Result<Paged<Broadcast>, StoreError>;

    /// Returns the message with this id.
    fn find(&mut self, id: BroadcastId) -> Result<Option<Broadcast>, StoreError>;

    /// Locks and returns the message with this id.
    fn lock(&mut self, id: BroadcastId) -> Result<Option<Broadcast>, StoreError>;

    /// Creates a message.
    fn insert(&mut self, new: BroadcastContent) -> Result<Broadcast, StoreError>;

    /// Stores a changed message.
    fn update(&mut self, message: &Broadcast) -> Result<(), StoreError>;

    /// Deletes a message.
    fn delete(&mut self, id: BroadcastId) -> Result<(), StoreError>;
}
