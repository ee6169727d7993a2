//! The ports to queued deliveries and to the log of deliveries.

use super::lane::{Claim, ClaimLimits, Settlement};
use super::{Delivery, FailingHook, HookRef, HookRequest, NewDelivery, QueueSize};
use crate::Timestamp;
use crate::id::{DeliveryId, PayloadId};
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;

/// The queue of deliveries. Deliveries are deleted together with their hook.
pub trait Deliveries {
    /// Stores a payload, which several deliveries may share.
    fn insert_payload(&mut self, body: &str, at: Timestamp) -> Result<PayloadId, StoreError>;

    /// Appends deliveries to the lanes of their hooks, in this order. Deliveries to deleted hooks, and to services
    /// that have no URL any more, are left out.
    fn insert(&mut self, new: &[NewDelivery]) -> Result<(), StoreError>;

    /// Returns whether any lane can be claimed.
    fn any_due(&mut self, now: Timestamp) -> Result<bool, StoreError>;

    /// Claims lanes that have due deliveries and do not pause, longest waiting first, exclusively until `until`. Each
    /// claim has the due deliveries of its lane, oldest first. A claim that is not settled may be given to another
    /// caller after `until`.
    fn claim(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        limits: ClaimLimits,
    ) -> Result<Vec<Claim>, StoreError>;

    /// The data to send these deliveries, ordered by id, with the current settings of their hooks. Deliveries that were
    /// deleted or are no longer pending are left out. If all bodies together have more than `most` characters, the last
    /// deliveries are left out too; the first one is always included.
    fn requests(
        &mut self,
        ids: &[DeliveryId],
        most: u32,
    ) -> Result<Vec<(DeliveryId, HookRequest)>, StoreError>;

    /// Records the results of claims and releases their lanes. Ignores a claim that has expired and whose lane another
    /// caller claimed since: that caller sends the deliveries again.
    fn settle(&mut self, done: &[Settlement]) -> Result<(), StoreError>;
}

/// The log of deliveries, for the maintainers of hooks.
pub trait DeliveryLog {
    /// The deliveries to a hook, newest first.
    fn list(&mut self, hook: HookRef, page: Page) -> Result<Paged<Delivery>, StoreError>;

    /// The delivery with this id, if it belongs to the hook.
    fn find(&mut self, hook: HookRef, id: DeliveryId) -> Result<Option<Delivery>, StoreError>;

    /// Makes a delivery due now, as if it had never been attempted, and ends the pause of its lane. The record of the
    /// last attempt is kept.
    fn retry(&mut self, id: DeliveryId, now: Timestamp) -> Result<(), StoreError>;

    /// The size of the queue.
    fn queue(&mut self) -> Result<QueueSize, StoreError>;

    /// The hooks with at least `failures` consecutive failures, most failures first.
    fn failing(&mut self, failures: u32, limit: u32) -> Result<Vec<FailingHook>, StoreError>;

    /// Deliveries that can be deleted, at most `limit`: those that are not pending, and were created before `before` or
    /// are not among the newest `keep` of their hook.
    fn stale(
        &mut self,
        before: Timestamp,
        keep: u32,
        limit: u32,
    ) -> Result<Vec<DeliveryId>, StoreError>;

    /// Deletes those of these deliveries that are not pending.
    fn remove(&mut self, ids: &[DeliveryId]) -> Result<(), StoreError>;

    /// Payloads to which no delivery refers, at most `limit`.
    fn unused_payloads(&mut self, limit: u32) -> Result<Vec<PayloadId>, StoreError>;

    /// Deletes those of these payloads to which no delivery refers.
    fn remove_payloads(&mut self, ids: &[PayloadId]) -> Result<(), StoreError>;
}
