//! A store that is in the way.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use hexforge_domain::ports::store::{Mode, Store, StoreError, Tx, Verdict};

/// Another store, of which the next transactions that write fail as it was told.
#[derive(Clone)]
pub struct FailingStore {
    store: Arc<dyn Store>,
    plan: Arc<Mutex<VecDeque<Option<StoreError>>>>,
}

impl FailingStore {
    pub fn of(store: Arc<dyn Store>) -> Self {
        Self { store, plan: Arc::default() }
    }

    /// Lets so many writing transactions pass, then fails so many.
    pub fn fail(&self, after: usize, times: usize, error: fn() -> StoreError) {
        let passing = (0..after).map(|_| None);
        let failing = (0..times).map(|_| Some(error()));
        *self.plan.lock().expect("nobody panics") = passing.chain(failing).collect();
    }

    pub fn busy(&self, after: usize, times: usize) {
        self.fail(after, times, || StoreError::Busy);
    }

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
                // It is called once, whatever becomes of it.
                self.store.transact(mode, &mut |tx| {
                    let _ = work(tx);
                    Verdict::RollBack
                })?;
                Err(error)
            }
            None => self.store.transact(mode, work),
        }
    }

    fn ready(&self) -> Result<(), StoreError> {
        self.store.ready()
    }
}
