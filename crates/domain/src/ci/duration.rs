//! How long a pipeline was worked on.

use super::status::Status;
use crate::Timestamp;

/// When a build ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildTimes {
    /// Where the build is.
    pub status: Status,
    /// When a runner took it.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
}

impl BuildTimes {
    /// From when to when it ran; a build that still does runs until `now`.
    fn interval(self, now: Timestamp) -> Option<(Timestamp, Timestamp)> {
        match self.status {
            Status::Success | Status::Failed | Status::Running | Status::Canceled => {
                Some((self.started_at?, self.finished_at.unwrap_or(now)))
            }
            Status::Created | Status::Pending | Status::Skipped => None,
        }
    }
}

/// The whole seconds in which at least one of the builds ran: overlaps count once, waiting does
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
