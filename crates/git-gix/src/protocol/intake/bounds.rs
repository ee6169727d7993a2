//! The limits of one received pack.
//!
//! A few bytes can expand to very many: deflate makes 1,000 out of one, and a delta can copy its base any number of
//! times. So the bytes produced from a pack are counted, and must stay in proportion to the received bytes.

use std::sync::atomic::{AtomicU64, Ordering};

use super::IntakeError;
use crate::protocol::limits::{MemoryShare, NoMemory, StopReason, StopSignal};

/// The number of bytes that may be produced from any pack.
const PRODUCED_FROM_ANY: u64 = 1 << 30;

/// The additional bytes that may be produced per received byte. Histories of large directories reach several hundred.
const PRODUCED_PER_BYTE: u64 = 2_000;

/// The limits of one pack, and how much of them is used.
pub(crate) struct Bounds {
    pub(crate) stop: StopSignal,
    /// The limit for the bytes of the pack, both received and stored.
    pub(crate) pack: SizeLimit,
    /// The limit for the bytes of one object.
    pub(crate) object_bytes: u64,
    pub(crate) memory: MemoryShare,
    received: AtomicU64,
    produced: AtomicU64,
}

/// A limit in bytes, and the message for a client that exceeds it.
#[derive(Clone, Debug)]
pub(crate) struct SizeLimit {
    pub(crate) bytes: u64,
    pub(crate) refusal: String,
}

impl Bounds {
    pub(crate) fn new(
        stop: StopSignal,
        pack: SizeLimit,
        object_bytes: u64,
        memory: MemoryShare,
    ) -> Self {
        let (received, produced) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { stop, pack, object_bytes, memory, received, produced }
    }

    /// Fails if the deadline passed or the client disconnected.
    pub(crate) fn check(&self) -> Result<(), IntakeError> {
        self.stop.check().map_err(IntakeError::from)
    }

    /// Counts received bytes of the pack.
    pub(super) fn count_received(&self, bytes: u64) -> Result<(), IntakeError> {
        let before = self.received.fetch_add(bytes, Ordering::Relaxed);
        self.check_pack_size(before + bytes)
    }

    /// Checks that a pack may have this size.
    pub(super) fn check_pack_size(&self, bytes: u64) -> Result<(), IntakeError> {
        if bytes > self.pack.bytes {
            return Err(IntakeError::TooLarge(self.pack.refusal.clone()));
        }
        Ok(())
    }

    /// Counts bytes that are produced from the pack.
    pub(crate) fn count_produced(&self, bytes: u64) -> Result<(), IntakeError> {
        let produced = self.produced.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let received = self.received.load(Ordering::Relaxed);
        if produced > PRODUCED_FROM_ANY.saturating_add(received.saturating_mul(PRODUCED_PER_BYTE)) {
            let text =
                "the objects are too large for the size of the pack; push fewer commits at once";
            return Err(IntakeError::TooLarge(text.to_owned()));
        }
        Ok(())
    }

    /// Checks that an object may have this size.
    pub(super) fn check_object_size(&self, size: u64) -> Result<(), IntakeError> {
        if size > self.object_bytes {
            let (size, most) = (size >> 20, self.object_bytes >> 20);
            let text = format!("an object of {size} MiB is larger than the limit of {most} MiB");
            return Err(IntakeError::TooLarge(text));
        }
        Ok(())
    }

    /// Reserves memory from the budget of all pushes.
    pub(super) fn reserve_memory(&self, bytes: usize) -> Result<(), IntakeError> {
        self.memory.reserve(bytes, &self.stop).map_err(|why| match why {
            NoMemory::Never => {
                let text = "the push has more objects than the server has memory for; push fewer commits at once";
                IntakeError::TooLarge(text.to_owned())
            }
            NoMemory::Busy => IntakeError::Busy,
            NoMemory::Stopped(stopped) => stopped.into(),
        })
    }
}

impl From<StopReason> for IntakeError {
    fn from(stopped: StopReason) -> Self {
        IntakeError::Stopped(stopped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::limits::MemoryBudget;
    use hexforge_domain::limiter::Caller;
    use hexforge_domain::ports::git_transport::DisconnectSignal;
    use std::sync::Arc;
    use std::time::Duration;

    fn bounds() -> Bounds {
        let stop = StopSignal::after(Duration::from_secs(60), DisconnectSignal::default());
        let pack = SizeLimit { bytes: 1000, refusal: "too large".to_owned() };
        Bounds::new(stop, pack, 1 << 20, Arc::new(MemoryBudget::new(100)).share(Caller::BACKGROUND))
    }

    #[test]
    fn what_is_made_of_a_pack_is_in_proportion() {
        let bounds = bounds();
        bounds.count_produced(PRODUCED_FROM_ANY).expect("as much as of any");
        assert!(matches!(bounds.count_produced(1), Err(IntakeError::TooLarge(_))));
        bounds.count_received(10).expect("a small pack");
        bounds.count_produced(10 * PRODUCED_PER_BYTE - 1).expect("as much as ten bytes make");
        assert!(matches!(bounds.count_produced(1), Err(IntakeError::TooLarge(_))));
    }

    #[test]
    fn sizes_and_memory_have_limits() {
        let bounds = bounds();
        bounds.count_received(1000).expect("as large as allowed");
        let refused = bounds.count_received(1);
        assert!(matches!(refused, Err(IntakeError::TooLarge(text)) if text == "too large"));
        assert!(bounds.check_object_size(1 << 20).is_ok());
        assert!(matches!(bounds.check_object_size((1 << 20) + 1), Err(IntakeError::TooLarge(_))));
        assert!(bounds.reserve_memory(75).is_ok());
        assert!(matches!(bounds.reserve_memory(1), Err(IntakeError::TooLarge(_))));
    }
}
