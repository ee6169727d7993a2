//! Signals to the scheduler thread of hook deliveries.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hexforge_domain::delivery::lane::Settlement;

/// How long to wait for more signals after the first, so that their results are saved in one transaction.
const GATHER: Duration = Duration::from_millis(15);

/// Collects signals and reports until the scheduler takes them.
#[derive(Default)]
pub struct Desk {
    lying: Mutex<Lying>,
    changed: Condvar,
}

#[derive(Default)]
struct Lying {
    news: bool,
    reports: Vec<Settlement>,
    closed: bool,
}

impl Desk {
    /// Signals new events in the outbox. It costs almost nothing.
    pub fn ring(&self) {
        let mut lying = self.lying();
        if !std::mem::replace(&mut lying.news, true) {
            self.changed.notify_all();
        }
    }

    /// Reports that a sender thread is done with a lane.
    pub(super) fn report(&self, settlement: Settlement) {
        self.lying().reports.push(settlement);
        self.changed.notify_all();
    }

    /// Prevents new deliveries from starting.
    pub(super) fn close(&self) {
        self.lying().closed = true;
        self.changed.notify_all();
    }

    pub(super) fn is_open(&self) -> bool {
        !self.lying().closed
    }

    /// Waits for a signal, a report or the end, and takes the reports.
    pub(super) fn wait(&self, longest: Duration) -> Vec<Settlement> {
        let nothing = |lying: &mut Lying| !lying.news && lying.reports.is_empty() && !lying.closed;
        let waited = self.changed.wait_timeout_while(self.lying(), longest, nothing);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        std::thread::sleep(GATHER);
        self.take()
    }

    /// Waits for reports only, after the end was signaled.
    pub(super) fn wait_for_report(&self, longest: Duration) -> Vec<Settlement> {
        let nothing = |lying: &mut Lying| lying.reports.is_empty();
        let waited = self.changed.wait_timeout_while(self.lying(), longest, nothing);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        self.take()
    }

    fn take(&self) -> Vec<Settlement> {
        let mut lying = self.lying();
        lying.news = false;
        std::mem::take(&mut lying.reports)
    }

    fn lying(&self) -> MutexGuard<'_, Lying> {
        self.lying.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
