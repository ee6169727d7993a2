//! The ports to what waits to be sent, and to what was.

use super::lane::{Claim, ClaimLimits, Settlement};
use super::{Delivery, FailingHook, HookRef, Letter, NewDelivery, Queue};
use crate::Timestamp;
use crate::id::{DeliveryId, PayloadId};
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;

/// What hooks are sent. It goes with its hook.
pub trait Deliveries {
    /// Keeps what several deliveries say.
    fn insert_payload(&mut self, body: &str, at: Timestamp) -> Result<PayloadId, StoreError>;

    /// Puts deliveries at the end of the lanes of their hooks, in this order. Those to hooks that are gone are
    /// left out.
    fn insert(&mut self, new: &[NewDelivery]) -> Result<(), StoreError>;

    /// Whether any lane could be claimed.
    fn any_due(&mut self, now: Timestamp) -> Result<bool, StoreError>;

    /// Gives out lanes that have something due and do not rest, those first that wait longest, each to nobody else
    /// until that moment; of each what is due, oldest first. A claim that nobody settled may be given out again after
    /// that moment.
    fn claim(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        limits: ClaimLimits,
    ) -> Result<Vec<Claim>, StoreError>;

    /// Everything it takes to send these deliveries, by id, as their hooks are now. Those that are gone, or wait no
    /// longer, are left out. So are the last ones if all bodies come to more than `most` characters together; the
    /// first is given whatever its length.
    fn letters(
        &mut self,
        ids: &[DeliveryId],
        most: u32,
    ) -> Result<Vec<(DeliveryId, Letter)>, StoreError>;

    /// Writes down what became of claims, and gives back their lanes. A claim that was given out again meanwhile is
    /// passed over: whoever has it now will send again what it says.
    fn settle(&mut self, done: &[Settlement]) -> Result<(), StoreError>;
}

/// Looking after hooks.
pub trait DeliveryLog {
    /// The deliveries to a hook, newest first.
    fn list(&mut self, hook: HookRef, page: Page) -> Result<Paged<Delivery>, StoreError>;

    /// One delivery, if it is to that hook.
    fn find(&mut self, hook: HookRef, id: DeliveryId) -> Result<Option<Delivery>, StoreError>;

    /// Lets a delivery be sent from now on as if it had never been tried; what is known of the last attempt
    /// stays. Its lane rests no longer.
    fn retry(&mut self, id: DeliveryId, now: Timestamp) -> Result<(), StoreError>;

    /// How much waits.
    fn queue(&mut self) -> Result<Queue, StoreError>;

    /// Hooks that failed at least so often in a row, those first that failed most often.
    fn failing(&mut self, failures: u32, limit: u32) -> Result<Vec<FailingHook>, StoreError>;

    /// Some of the deliveries that need not be kept: they wait for nothing, and were written before that moment or are
    /// not among the newest `keep` of their hook.
    fn stale(
        &mut self,
        before: Timestamp,
        keep: u32,
        limit: u32,
    ) -> Result<Vec<DeliveryId>, StoreError>;

    /// Removes those of these deliveries that wait for nothing.
    fn remove(&mut self, ids: &[DeliveryId]) -> Result<(), StoreError>;

    /// Some of what no delivery says any more.
    fn unused_payloads(&mut self, limit: u32) -> Result<Vec<PayloadId>, StoreError>;

    /// Removes what no delivery says any more.
    fn remove_payloads(&mut self, ids: &[PayloadId]) -> Result<(), StoreError>;
}
