//! The port to the stored system hooks.

use super::{SystemHook, SystemHookSettings};
use crate::Timestamp;
use crate::id::SystemHookId;
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;

/// All system hooks.
pub trait SystemHooks {
    /// Hooks, newest first.
    fn list(&mut self, page: Page) -> Result<Paged<SystemHook>, StoreError>;

    /// One hook.
    fn find(&mut self, id: SystemHookId) -> Result<Option<SystemHook>, StoreError>;

    /// Registers a hook. The same address may be registered more than once.
    fn insert(&mut self, new: SystemHookSettings, at: Timestamp) -> Result<SystemHook, StoreError>;

    /// Removes a hook.
    fn delete(&mut self, id: SystemHookId) -> Result<(), StoreError>;
}
