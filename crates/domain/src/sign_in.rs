//! Rate limit for failed sign-ins, against password guessing.

pub mod port;

use crate::Timestamp;
use chrono::TimeDelta;

/// The number of failures within [`WINDOW`] after which further sign-ins are refused.
const LIMIT: u32 = 10;
/// The window in which failures are counted together.
const WINDOW: TimeDelta = TimeDelta::minutes(1);
/// The time for which further sign-ins are refused. The account itself is never locked: its tokens
/// keep working.
const PAUSE: TimeDelta = TimeDelta::minutes(1);

/// The maximum number of networks stored per user.
pub const MAX_NETWORKS: usize = 20;
/// The time for which a network is stored after the last sign-in from it.
const REMEMBERED: TimeDelta = TimeDelta::days(90);

/// The time before which sign-ins are forgotten.
pub fn networks_valid_since(now: Timestamp) -> Timestamp {
    now - REMEMBERED
}

/// The failed sign-ins of one account or one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failures {
    /// The number of failures since `since`.
    pub count: u32,
    /// The time of the first failure in the window.
    pub since: Timestamp,
    /// The time until which further sign-ins are refused.
    pub refused_until: Option<Timestamp>,
}

impl Failures {
    /// Counts one more failure.
    pub fn count_failure(earlier: Option<Failures>, now: Timestamp) -> Failures {
        let (count, since) = match earlier {
            Some(failures) if now - failures.since < WINDOW => (failures.count + 1, failures.since),
            Some(_) | None => (1, now),
        };
        let refused_until = (count >= LIMIT).then_some(now + PAUSE);
        Failures { count, since, refused_until }
    }

    /// The seconds until the caller may try again; `None` if it need not wait.
    pub fn wait(self, now: Timestamp) -> Option<u64> {
        let left = self.refused_until? - now;
        // Rounded up, so that a caller who waits exactly this long is not refused again.
        u64::try_from((left.num_milliseconds() + 999) / 1000).ok().filter(|seconds| *seconds > 0)
    }

    /// The moment before which failures have no effect and can be deleted.
    pub fn forgotten_before(now: Timestamp) -> Timestamp {
        now - WINDOW - PAUSE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        chrono::DateTime::from_timestamp(seconds, 0).expect("in range")
    }

    #[test]
    fn ten_failures_within_a_minute_refuse_the_eleventh_try_for_a_minute() {
        let mut known = None;
        for n in 1..=10 {
            assert_eq!(known.and_then(|f: Failures| f.wait(at(n))), None, "before failure {n}");
            known = Some(Failures::count_failure(known, at(n)));
        }
        let failures = known.expect("ten failures");
        assert_eq!(failures.wait(at(10)), Some(60));
        assert_eq!(failures.wait(at(69)), Some(1));
        assert_eq!(failures.wait(at(70)), None);
    }

    #[test]
    fn failures_far_apart_never_add_up() {
        let mut known = None;
        for n in 0..100 {
            let failures = Failures::count_failure(known, at(n * 60));
            assert_eq!((failures.count, failures.refused_until), (1, None));
            known = Some(failures);
        }
    }
}
