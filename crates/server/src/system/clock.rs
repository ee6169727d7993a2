//! The real time.

use chrono::{DurationRound, TimeDelta, Utc};
use hexforge_domain::Timestamp;
use hexforge_domain::ports::clock::Clock;

/// The clock of the machine.
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let now = Utc::now();
        now.duration_trunc(TimeDelta::microseconds(1)).unwrap_or(now)
    }
}
