//! Fake of the clock: its time changes only when a test changes it.

use crate::builders::a_moment;
use chrono::{SubsecRound, TimeDelta};
use hexforge_domain::Timestamp;
use hexforge_domain::ports::clock::Clock;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A clock that starts at [`a_moment`]. Clones share the time.
#[derive(Clone, Debug)]
pub struct FakeClock(Arc<Mutex<Timestamp>>);

impl FakeClock {
    /// Creates a clock with this time.
    pub fn at(moment: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(moment)))
    }

    /// Sets the time.
    pub fn set(&self, moment: Timestamp) {
        *self.lock_time() = moment;
    }

    /// Advances the time.
    pub fn advance(&self, by: TimeDelta) {
        *self.lock_time() += by;
    }

    fn lock_time(&self) -> MutexGuard<'_, Timestamp> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for FakeClock {
    fn default() -> Self {
        Self::at(a_moment())
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Timestamp {
        self.lock_time().trunc_subsecs(6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_show_the_same_time_cut_to_the_microsecond() {
        let clock = FakeClock::default();
        let other = clock.clone();
        assert_eq!(other.now(), a_moment());
        clock.advance(TimeDelta::nanoseconds(2_500));
        assert_eq!(other.now(), a_moment() + TimeDelta::microseconds(2));
        clock.set(a_moment());
        assert_eq!(other.now(), a_moment());
    }
}
