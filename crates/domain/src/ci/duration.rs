//! The duration of a pipeline.

use super::status::Status;
use crate::Timestamp;

/// The status of a build and the times at which it started and finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildTimes {
    /// The status of the build.
    pub status: Status,
    /// When a runner took it.
    pub started_at: Option<Timestamp>,
    /// When it finished.
    pub finished_at: Option<Timestamp>,
}

impl BuildTimes {
    /// The time span in which the build ran; a running build counts until `now`.
    fn interval(self, now: Timestamp) -> Option<(Timestamp, Timestamp)> {
        match self.status {
            Status::Success | Status::Failed | Status::Running | Status::Canceled => {
                Some((self.started_at?, self.finished_at.unwrap_or(now)))
            }
            Status::Created | Status::Pending | Status::Skipped => None,
        }
    }
}

/// The number of whole seconds in which at least one of the builds ran. Overlaps count once; time spent pending does
/// not count.
pub fn seconds_worked(builds: impl IntoIterator<Item = BuildTimes>, now: Timestamp) -> i64 {
    let mut intervals: Vec<_> =
        builds.into_iter().filter_map(|build| build.interval(now)).collect();
    intervals.sort_unstable();
    let mut worked = chrono::TimeDelta::zero();
    let mut reached = None;
    for (start, end) in intervals {
        let start = reached.map_or(start, |reached| start.max(reached));
        if end > start {
            worked += end - start;
            reached = Some(end);
        }
    }
    worked.num_seconds()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: i64) -> Timestamp {
        Timestamp::from_timestamp_millis(milliseconds).expect("it is a moment")
    }

    /// A build that ran between two seconds.
    fn ran(start: i64, end: i64) -> BuildTimes {
        BuildTimes {
            status: Status::Success,
            started_at: Some(at(start * 1000)),
            finished_at: Some(at(end * 1000)),
        }
    }

    #[test]
    fn overlaps_count_once_and_waiting_not_at_all() {
        let table: &[(&[BuildTimes], i64)] = &[
            (&[], 0),
            (&[ran(0, 5)], 5),
            (&[ran(0, 5), ran(5, 7)], 7),
            (&[ran(0, 5), ran(10, 12)], 7),
            (&[ran(0, 5), ran(3, 8)], 8),
            (&[ran(0, 10), ran(2, 4), ran(3, 5)], 10),
            (&[ran(0, 10), ran(2, 4), ran(9, 11)], 11),
            (&[ran(0, 5), ran(0, 5)], 5),
            // A clock that was set back.
            (&[ran(5, 3), ran(4, 6)], 2),
        ];
        for (builds, expected) in table {
            assert_eq!(seconds_worked(builds.iter().copied(), at(99_000)), *expected, "{builds:?}");
            let reversed = builds.iter().rev().copied();
            assert_eq!(seconds_worked(reversed, at(99_000)), *expected, "reversed {builds:?}");
        }
    }

    #[test]
    fn parts_of_seconds_are_added_before_they_are_cut() {
        let part = |start, end| BuildTimes {
            started_at: Some(at(start)),
            finished_at: Some(at(end)),
            ..ran(0, 0)
        };
        assert_eq!(seconds_worked([part(0, 700), part(1000, 1700)], at(0)), 1);
        assert_eq!(seconds_worked([part(0, 900)], at(0)), 0);
    }

    #[test]
    fn only_builds_that_ran_count_and_a_running_one_until_now() {
        for status in Status::ALL {
            let expected = match status {
                Status::Success | Status::Failed | Status::Running | Status::Canceled => 5,
                Status::Created | Status::Pending | Status::Skipped => 0,
            };
            let build = BuildTimes { status, ..ran(0, 5) };
            assert_eq!(seconds_worked([build], at(99_000)), expected, "{status:?}");
        }
        let running = BuildTimes { status: Status::Running, finished_at: None, ..ran(2, 0) };
        assert_eq!(seconds_worked([running], at(9_000)), 7);
        let never = BuildTimes { status: Status::Canceled, started_at: None, ..ran(0, 5) };
        assert_eq!(seconds_worked([never], at(9_000)), 0);
    }
}
