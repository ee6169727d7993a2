//! One snapshot of the store for all reads of a request.

use std::sync::{Arc, Mutex};

use hexforge_domain::ports::store::{Mode, ReadSnapshot, Store, StoreError, Tx, Verdict};

use crate::app::App;

impl App {
    /// Returns an app for one request whose reads share a snapshot: what one use case has loaded, the next does not
    /// load again. After a write, the reads see a new snapshot. When a repository or a file is opened, the snapshot is
    /// released, so that no connection waits for a disk or another machine. Dropping the app ends the snapshot.
    pub fn in_snapshot(&self) -> App {
        let store = Arc::clone(&self.store);
        App { store: Arc::new(SnapshotStore { store, snapshot: Mutex::default() }), ..self.clone() }
    }
}

/// A store for one request, whose reads share a snapshot.
struct SnapshotStore {
    store: Arc<dyn Store>,
    snapshot: Mutex<Option<Box<dyn ReadSnapshot>>>,
}

impl Store for SnapshotStore {
    fn transact(
        &self,
        mode: Mode,
        work: &mut (dyn FnMut(&mut dyn Tx) -> Verdict + Send),
    ) -> Result<(), StoreError> {
        // A read inside another one has no snapshot, because a snapshot has one connection.
        let Ok(mut shared) = self.snapshot.try_lock() else {
            return self.store.transact(mode, work);
        };
        match mode {
            Mode::Read | Mode::Autocommit => {
                if shared.is_none() {
                    *shared = self.store.snapshot();
                }
                if let Some(snapshot) = &mut *shared {
                    return snapshot.read(work);
                }
            }
            // What is read after a write includes it.
            Mode::Write => *shared = None,
        }
        drop(shared);
        self.store.transact(mode, work)
    }

    fn snapshot(&self) -> Option<Box<dyn ReadSnapshot>> {
        self.store.snapshot()
    }

    fn release_snapshot(&self) {
        // A lock that is taken means a read that runs now.
        let Ok(mut shared) = self.snapshot.try_lock() else { return };
        if shared.is_none() {
            *shared = self.store.snapshot();
        }
        if let Some(snapshot) = &mut *shared {
            snapshot.release();
        }
    }

    fn check_ready(&self) -> Result<(), StoreError> {
        self.store.check_ready()
    }
}
