//! The limits for taking in one pack.
//!
//! A few bytes can expand to very many: deflate makes 1,000 out of one, and a delta can copy its base any number of
//! times. So the bytes produced from a pack are counted, and must stay in proportion to the received bytes.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Unfit;
use crate::protocol::limits::{MemoryShare, NoMemory, Stop, Stopped};

/// The number of bytes that may be produced from any pack.
const MADE_OF_ANY: u64 = 1 << 30;

/// The additional bytes that may be produced per received byte. Histories of large directories reach several hundred.
const MADE_OF_EACH_BYTE: u64 = 2_000;

/// The limits of one pack, and how much of them is used.
pub(crate) struct Bounds {
    pub(crate) stop: Stop,
    /// The limit for the bytes of the pack, both received and stored.
    pub(crate) pack: SizeLimit,
    /// The limit for the bytes of one object.
    pub(crate) object_bytes: u64,
    pub(crate) memory: MemoryShare,
    received: AtomicU64,
    made: AtomicU64,
}

/// A limit in bytes, and the message for a client that exceeds it.
#[derive(Clone, Debug)]
pub(crate) struct SizeLimit {
    pub(crate) bytes: u64,
    pub(crate) refusal: String,
}

impl Bounds {
    pub(crate) fn new(stop: Stop, pack: SizeLimit, object_bytes: u64, memory: MemoryShare) -> Self {
        let (received, made) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { stop, pack, object_bytes, memory, received, made }
    }

    /// Fails if the deadline passed or the client hung up.
    pub(crate) fn check(&self) -> Result<(), Unfit> {
        self.stop.check().map_err(Unfit::from)
    }

    /// Counts received bytes of the pack.
    pub(super) fn receive(&self, bytes: u64) -> Result<(), Unfit> {
        let before = self.received.fetch_add(bytes, Ordering::Relaxed);
        self.store(before + bytes)
    }

    /// Checks that a pack of so many bytes may be stored.
    pub(super) fn store(&self, bytes: u64) -> Result<(), Unfit> {
        if bytes > self.pack.bytes {
            return Err(Unfit::TooMuch(self.pack.refusal.clone()));
        }
        Ok(())
    }

    /// Counts bytes that are produced from the pack.
    pub(crate) fn make(&self, bytes: u64) -> Result<(), Unfit> {
        let made = self.made.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let received = self.received.load(Ordering::Relaxed);
        if made > MADE_OF_ANY.saturating_add(received.saturating_mul(MADE_OF_EACH_BYTE)) {
            let text =
                "the objects are too large for the size of the pack; push fewer commits at once";
            return Err(Unfit::TooMuch(text.to_owned()));
        }
        Ok(())
    }

    /// Checks that an object may have this size.
    pub(super) fn object(&self, size: u64) -> Result<(), Unfit> {
        if size > self.object_bytes {
            let (size, most) = (size >> 20, self.object_bytes >> 20);
            let text = format!("an object of {size} MiB is larger than the limit of {most} MiB");
            return Err(Unfit::TooMuch(text));
        }
        Ok(())
    }

    /// Reserves memory from the budget of all pushes.
    pub(super) fn hold(&self, bytes: usize) -> Result<(), Unfit> {
        self.memory.grow(bytes, &self.stop).map_err(|why| match why {
            NoMemory::Never => {
                let text = "the push has more objects than the server has memory for; push fewer commits at once";
                Unfit::TooMuch(text.to_owned())
            }
            NoMemory::Busy => Unfit::Busy,
            NoMemory::Stopped(stopped) => stopped.into(),
        })
    }
}

impl From<Stopped> for Unfit {
    fn from(stopped: Stopped) -> Self {
        Unfit::Stopped(stopped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::limits::MemoryBudget;
    use hexforge_domain::limiter::Caller;
    use hexforge_domain::ports::git_transport::HangUp;
    use std::sync::Arc;
    use std::time::Duration;

    fn bounds() -> Bounds {
        let stop = Stop::after(Duration::from_secs(60), HangUp::default());
        let pack = SizeLimit { bytes: 1000, refusal: "too large".to_owned() };
        Bounds::new(stop, pack, 1 << 20, Arc::new(MemoryBudget::new(100)).share(Caller::BACKGROUND))
    }

    #[test]
    fn what_is_made_of_a_pack_is_in_proportion() {
        let bounds = bounds();
        bounds.make(MADE_OF_ANY).expect("as much as of any");
        assert!(matches!(bounds.make(1), Err(Unfit::TooMuch(_))));
        bounds.receive(10).expect("a small pack");
        bounds.make(10 * MADE_OF_EACH_BYTE - 1).expect("as much as ten bytes make");
        assert!(matches!(bounds.make(1), Err(Unfit::TooMuch(_))));
    }

    #[test]
    fn sizes_and_memory_have_limits() {
        let bounds = bounds();
        bounds.receive(1000).expect("as large as allowed");
        assert!(matches!(bounds.receive(1), Err(Unfit::TooMuch(text)) if text == "too large"));
        assert!(bounds.object(1 << 20).is_ok());
        assert!(matches!(bounds.object((1 << 20) + 1), Err(Unfit::TooMuch(_))));
        assert!(bounds.hold(75).is_ok());
        assert!(matches!(bounds.hold(1), Err(Unfit::TooMuch(_))));
    }
}
