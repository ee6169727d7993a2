//! Tells the silence of runners from a server that was down and from a clock that was set.

use std::time::{Duration, Instant};

use chrono::TimeDelta;
use hexforge_domain::Timestamp;

/// The difference between the time of day and the steady clock that counts as a jump.
const JUMP: TimeDelta = TimeDelta::seconds(5);

/// How long runners could give signs of life. It starts again with the server, when its clock is set, and when the
/// machine slept: the silence that the times in the database show then is not that of the runners.
pub struct SilenceWatch {
    since: Instant,
    last: (Instant, Timestamp),
}

impl SilenceWatch {
    /// Starts with the server.
    pub fn start(instant: Instant, now: Timestamp) -> Self {
        Self { since: instant, last: (instant, now) }
    }

    /// The time since the start, or since the clock jumped.
    pub fn elapsed(&mut self, instant: Instant, now: Timestamp) -> Duration {
        let (last_instant, last) = self.last;
        let passed = TimeDelta::from_std(instant - last_instant).unwrap_or_default();
        if ((now - last) - passed).abs() > JUMP {
            tracing::warn!("the clock jumped: builds whose runner is silent are failed later");
            self.since = instant;
        }
        self.last = (instant, now);
        instant - self.since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_of_the_clock_starts_again() {
        let (start, noon) = (Instant::now(), Timestamp::UNIX_EPOCH);
        let mut watch = SilenceWatch::start(start, noon);
        for (steady, by_clock, expected) in
            [(10, 10, 10), (20, 24, 20), (30, 3634, 0), (40, 3644, 10), (50, 54, 0), (60, 64, 10)]
        {
            let instant = start + Duration::from_secs(steady);
            let found = watch.elapsed(instant, noon + TimeDelta::seconds(by_clock));
            assert_eq!(found.as_secs(), expected, "after {steady} s");
        }
    }
}
