//! Fake of the store, in memory.

use super::tx::{FakeTx, Tables};
use hexforge_domain::ports::store::{Mode, ReadSnapshot, Store, StoreError, Tx, Verdict};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Stores all rows in memory. A transaction works on a copy, so a rollback drops the copy. Clones
/// share the store.
#[derive(Clone, Default)]
pub struct FakeStore(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// Held by the running write transaction.
    turn: Mutex<()>,
    tables: Mutex<Arc<Tables>>,
}

impl FakeStore {
    // A panic leaves the tables unchanged, because transactions work on a copy.
    fn tables(&self) -> MutexGuard<'_, Arc<Tables>> {
        self.0.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for FakeStore {
    fn transact(
        &self,
        mode: Mode,
        work: &mut (dyn FnMut(&mut dyn Tx) -> Verdict + Send),
    ) -> Result<(), StoreError> {
        let _turn = match mode {
            Mode::Write => Some(self.0.turn.lock().unwrap_or_else(PoisonError::into_inner)),
            // Readers do not wait for a writer.
            Mode::Read | Mode::Autocommit => None,
        };
        let before = Arc::clone(&self.tables());
        let mut tx = FakeTx::new(Tables::clone(&before));
        match (work(&mut tx), mode) {
            (Verdict::RollBack, _) => Ok(()),
            (Verdict::Commit, _) if tx.failed => Err(StoreError::Aborted),
            // A read transaction that changed rows is an error here, because a real store would
            // have rejected the first change.
            (Verdict::Commit, Mode::Read | Mode::Autocommit) if tx.tables != *before => {
                Err(StoreError::Failed("a reading transaction changed something".into()))
            }
            (Verdict::Commit, Mode::Read | Mode::Autocommit) => Ok(()),
            (Verdict::Commit, Mode::Write) => {
                *self.tables() = Arc::new(tx.tables);
                Ok(())
            }
        }
    }

    fn snapshot(&self) -> Option<Box<dyn ReadSnapshot>> {
        Some(Box::new(FakeSnapshot { store: self.clone(), tables: None, is_released: false }))
    }

    fn check_ready(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// The tables as the first read saw them, until they are released.
struct FakeSnapshot {
    store: FakeStore,
    tables: Option<Arc<Tables>>,
    is_released: bool,
}

impl ReadSnapshot for FakeSnapshot {
    fn read(
        &mut self,
        work: &mut (dyn FnMut(&mut dyn Tx) -> Verdict + Send),
    ) -> Result<(), StoreError> {
        let tables = match &self.tables {
            Some(tables) => Arc::clone(tables),
            None => Arc::clone(&self.store.tables()),
        };
        let mut tx = FakeTx::new(Tables::clone(&tables));
        let verdict = work(&mut tx);
        self.tables = (!tx.failed && !self.is_released).then_some(tables);
        match verdict {
            Verdict::RollBack => Ok(()),
            Verdict::Commit if tx.failed => Err(StoreError::Aborted),
            Verdict::Commit => Ok(()),
        }
    }

    fn release(&mut self) {
        (self.is_released, self.tables) = (true, None);
    }
}
