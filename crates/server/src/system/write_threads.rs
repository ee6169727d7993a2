//! Transactions that change things are done with the normal priority, whatever the priority of their caller.
//!
//! A transaction holds locks of the database: on SQLite the only one. On a thread that [steps back](super::work) behind
//! others it would hold them for as long as these keep the processors busy, and everybody who writes would wait. A
//! thread cannot raise its priority again, so it hands its transaction to one that was never lowered.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use hexforge_domain::ports::store::{Mode, Store, StoreError, Tx, Verdict};
use rayon_core::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use super::work;

/// A store, and threads for the transactions of callers with a lower priority.
pub struct WriteThreads {
    store: Arc<dyn Store>,
    threads: ThreadPool,
}

impl WriteThreads {
    /// Starts as many threads as transactions can be at work in the store. They have the priority of the current thread.
    /// # Errors
    /// When the system has no threads for it.
    pub fn start(store: Arc<dyn Store>, number: usize) -> Result<Self, ThreadPoolBuildError> {
        let name = |_| "writes".to_owned();
        let threads = ThreadPoolBuilder::new().num_threads(number).thread_name(name).build()?;
        Ok(Self { store, threads })
    }
}

impl Store for WriteThreads {
    fn transact(
        &self,
        mode: Mode,
        work: &mut (dyn FnMut(&mut dyn Tx) -> Verdict + Send),
    ) -> Result<(), StoreError> {
        if mode != Mode::Write || !work::is_lowered() {
            return self.store.transact(mode, work);
        }
        let (outcome, used) = self.threads.install(|| {
            let begin = work::thread_time();
            let outcome = self.store.transact(mode, work);
            (outcome, work::thread_time().saturating_sub(begin))
        });
        LENT.set(LENT.get() + used);
        outcome
    }

    fn ready(&self) -> Result<(), StoreError> {
        self.store.ready()
    }
}

thread_local!(static LENT: Cell<Duration> = const { Cell::new(Duration::ZERO) });

/// The processor time that other threads have spent on transactions of the current one.
pub(super) fn lent_time() -> Duration {
    LENT.get()
}
