//! A store that fails on demand.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use hexforge_domain::ports::store::{Mode, Store, StoreError, Tx, Verdict};

/// Wraps a store and fails the next write transactions as planned.
#[derive(Clone)]
pub struct FailingStore {
    store: Arc<dyn Store>,
    plan: Arc<Mutex<VecDeque<Option<StoreError>>>>,
}

impl FailingStore {
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, plan: Arc::default() }
    }

    /// Lets the next `after` write transactions pass, then fails `times` of them with this error.
    pub fn fail(&self, after: usize, times: usize, error: fn() -> StoreError) {
        let passing = (0..after).map(|_| None);
        let failing = (0..times).map(|_| Some(error()));
        *self.plan.lock().expect("nobody panics") = passing.chain(failing).collect();
    }

    /// Like [`fail`](Self::fail), with [`StoreError::Busy`].
    pub fn busy(&self, after: usize, times: usize) {
        self.fail(after, times, || StoreError::Busy);
    }

    /// Like [`fail`](Self::fail), with an I/O error.
    pub fn broken(&self, after: usize, times: usize) {
        self.fail(after, times, || StoreError::Failed("the disk is full".into()));
    }
}

impl Store for FailingStore {
    fn transact(
        &self,
        mode: Mode,
        work: &mut (dyn FnMut(&mut dyn Tx) -> Verdict + Send),
    ) -> Result<(), StoreError> {
        let planned = match mode {
            Mode::Write => self.plan.lock().expect("nobody panics").pop_front().flatten(),
            Mode::Read | Mode::Autocommit => None,
        };
        match planned {
            Some(error) => {
                // A store calls `work` exactly once, even in a transaction that fails.
                self.store.transact(mode, &mut |tx| {
                    let _ = work(tx);
                    Verdict::RollBack
                })?;
                Err(error)
            }
            None => self.store.transact(mode, work),
        }
    }

    fn check_ready(&self) -> Result<(), StoreError> {
        self.store.check_ready()
    }
}
