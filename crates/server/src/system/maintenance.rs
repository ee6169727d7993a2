//! The queue of repositories that wait for maintenance.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::maintenance::Maintenance;

/// The capacity of the queue. A repository that does not fit is queued again with its next change.
const CAPACITY: usize = 1000;

/// How long a repository waits, so that many changes in a row lead to one maintenance.
const DELAY: Duration = Duration::from_secs(1);

/// A queue of repositories, without duplicates.
pub struct MaintenanceQueue {
    /// Repositories with the time from which on they may be maintained.
    waiting: Mutex<VecDeque<(ProjectId, Instant)>>,
    changed: Condvar,
    delay: Duration,
}

impl Default for MaintenanceQueue {
    fn default() -> Self {
        Self { waiting: Mutex::default(), changed: Condvar::new(), delay: DELAY }
    }
}

impl MaintenanceQueue {
    /// Takes the next repository. Returns `None` if none is due within this time.
    pub fn next(&self, longest: Duration) -> Option<ProjectId> {
        let end = Instant::now() + longest;
        let mut waiting = self.waiting();
        loop {
            let now = Instant::now();
            let due = waiting.front().map(|(_, due)| *due);
            if due.is_some_and(|due| due <= now) {
                return waiting.pop_front().map(|(project, _)| project);
            }
            if now >= end {
                return None;
            }
            let pause = due.map_or(end, |due| due.min(end)) - now;
            let waited = self.changed.wait_timeout(waiting, pause);
            waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<(ProjectId, Instant)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Maintenance for MaintenanceQueue {
    fn enqueue(&self, project: ProjectId) {
        let mut waiting = self.waiting();
        if waiting.len() < CAPACITY && waiting.iter().all(|(other, _)| *other != project) {
            waiting.push_back((project, Instant::now() + self.delay));
            self.changed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_repository_waits_once_and_the_queue_is_bounded() {
        let queue = MaintenanceQueue { delay: Duration::ZERO, ..MaintenanceQueue::default() };
        assert_eq!(queue.next(Duration::ZERO), None);
        for id in [1, 2, 1] {
            queue.enqueue(ProjectId(id));
        }
        assert_eq!(queue.next(Duration::ZERO), Some(ProjectId(1)));
        assert_eq!(queue.next(Duration::ZERO), Some(ProjectId(2)));
        assert_eq!(queue.next(Duration::ZERO), None);
        (0..2000).for_each(|id| queue.enqueue(ProjectId(id)));
        let count = std::iter::from_fn(|| queue.next(Duration::ZERO)).count();
        assert_eq!(count, CAPACITY);
    }

    #[test]
    fn a_repository_waits_for_further_changes() {
        let delay = Duration::from_millis(200);
        let queue = MaintenanceQueue { delay, ..MaintenanceQueue::default() };
        let begun = Instant::now();
        queue.enqueue(ProjectId(1));
        assert_eq!(queue.next(Duration::ZERO), None);
        assert_eq!(queue.next(Duration::from_secs(60)), Some(ProjectId(1)));
        assert!(begun.elapsed() >= delay);
    }
}
