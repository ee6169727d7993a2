//! The port to the stored activity events.

use super::{Event, NewEvent};
use crate::id::UserId;
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;

/// The activity of everybody.
pub trait Events {
    /// Writes down what happened.
    fn insert(&mut self, new: NewEvent) -> Result<Event, StoreError>;

    /// Events authored by a user, newest first.
    fn authored_by(&mut self, author: UserId, page: Page) -> Result<Paged<Event>, StoreError>;
}
