//! The port to the stored system hooks.

use super::{SystemHook, SystemHookSettings};
use crate::Timestamp;
use crate::id::SystemHookId;
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;

/// All system hooks.
pub trait SystemHooks {
    /// Returns a page of the hooks, newest first.
    fn list(&mut self, page: Page) -> Result<Paged<SystemHook>, StoreError>;

    /// Returns the hook with this id.
    fn find(&mut self, id: SystemHookId) -> Result<Option<SystemHook>, StoreError>;

    /// Creates a hook. Several hooks may have the same URL.
    fn insert(&mut self, new: SystemHookSettings, at: Timestamp) -> Result<SystemHook, StoreError>;

    /// Deletes a hook.
    fn delete(&mut self, id: SystemHookId) -> Result<(), StoreError>;
}
