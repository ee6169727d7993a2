//! The port to the clock.

use crate::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Now, cut to the microsecond.
    fn now(&self) -> Timestamp;
}
