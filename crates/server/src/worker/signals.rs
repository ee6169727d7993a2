//! Signals to the scheduler thread of hook deliveries.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hexforge_domain::delivery::lane::Settlement;

/// How long to wait for more signals after the first, so that their results are saved in one transaction.
const GATHER: Duration = Duration::from_millis(15);

/// Collects signals and reports until the scheduler takes them.
#[derive(Default)]
pub struct Signals {
    pending: Mutex<Pending>,
    changed: Condvar,
}

#[derive(Default)]
struct Pending {
    news: bool,
    reports: Vec<Settlement>,
    closed: bool,
}

impl Signals {
    /// Signals new events in the outbox. It costs almost nothing.
    pub fn notify(&self) {
        let mut pending = self.pending();
        if !std::mem::replace(&mut pending.news, true) {
            self.changed.notify_all();
        }
    }

    /// Reports that a sender thread is done with a lane.
    pub(super) fn report(&self, settlement: Settlement) {
        self.pending().reports.push(settlement);
        self.changed.notify_all();
    }

    /// Prevents new deliveries from starting.
    pub(super) fn close(&self) {
        self.pending().closed = true;
        self.changed.notify_all();
    }

    pub(super) fn is_open(&self) -> bool {
        !self.pending().closed
    }

    /// Waits for a signal, a report or the end, and takes the reports.
    pub(super) fn wait(&self, longest: Duration) -> Vec<Settlement> {
        let nothing =
            |pending: &mut Pending| !pending.news && pending.reports.is_empty() && !pending.closed;
        let waited = self.changed.wait_timeout_while(self.pending(), longest, nothing);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        std::thread::sleep(GATHER);
        self.take()
    }

    /// Waits for reports only, after the end was signaled.
    pub(super) fn wait_for_report(&self, longest: Duration) -> Vec<Settlement> {
        let nothing = |pending: &mut Pending| pending.reports.is_empty();
        let waited = self.changed.wait_timeout_while(self.pending(), longest, nothing);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        self.take()
    }

    fn take(&self) -> Vec<Settlement> {
        let mut pending = self.pending();
        pending.news = false;
        std::mem::take(&mut pending.reports)
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
