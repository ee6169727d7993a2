//! Implements the clock port.

use chrono::{DurationRound, TimeDelta, Utc};
use hexforge_domain::Timestamp;
use hexforge_domain::ports::clock::Clock;

/// The system clock, with microsecond precision.
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let now = Utc::now();
        now.duration_trunc(TimeDelta::microseconds(1)).unwrap_or(now)
    }
}
