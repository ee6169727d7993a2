//! The port to the clock.

use crate::Timestamp;

/// Provides the current time.
pub trait Clock: Send + Sync {
    /// The current time, truncated to microseconds.
    fn now(&self) -> Timestamp;
}
