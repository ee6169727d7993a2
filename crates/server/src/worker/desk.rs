//! Where the thread that keeps the books of hooks is told things.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hexforge_domain::delivery::lane::Settlement;

/// How long to wait for more once something came: what comes together is written down together.
const GATHER: Duration = Duration::from_millis(15);

/// News and reports, until somebody looks.
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
    /// There is news in the outbox. It costs next to nothing.
    pub fn ring(&self) {
        let mut lying = self.lying();
        if !std::mem::replace(&mut lying.news, true) {
            self.changed.notify_all();
        }
    }

    /// Somebody is done with a lane.
    pub(super) fn report(&self, settlement: Settlement) {
        self.lying().reports.push(settlement);
        self.changed.notify_all();
    }

    /// Nothing new is to be begun.
    pub(super) fn close(&self) {
        self.lying().closed = true;
        self.changed.notify_all();
    }

    pub(super) fn is_open(&self) -> bool {
        !self.lying().closed
    }

    /// Waits until something lies here, and takes what does.
    pub(super) fn wait(&self, longest: Duration) -> Vec<Settlement> {
        let nothing = |lying: &mut Lying| !lying.news && lying.reports.is_empty() && !lying.closed;
        let waited = self.changed.wait_timeout_while(self.lying(), longest, nothing);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        std::thread::sleep(GATHER);
        self.take()
    }

    /// Waits for reports only, for when the desk is closed.
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
