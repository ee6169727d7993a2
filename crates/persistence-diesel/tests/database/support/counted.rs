//! A store that counts its queries.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{Store, StoreError, Tx};
use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_persistence_diesel::{DieselStore, Options};

/// The largest page of the API.
pub const PAGE: Page = Page::Numbered { number: 1, size: 100 };

/// A store that counts its queries.
pub struct Counted {
    store: DieselStore,
    queries: Arc<AtomicU64>,
    _database: TestDatabase,
}

impl Counted {
    pub fn on(database: TestDatabase) -> Self {
        let queries = Arc::new(AtomicU64::new(0));
        let store =
            database.open(Options { queries: Some(Arc::clone(&queries)), ..Options::default() });
        Self { store, queries, _database: database }
    }

    /// Runs a read transaction. Returns its result and the number of its queries.
    pub fn read<T: Send>(
        &self,
        work: impl FnOnce(&mut dyn Tx) -> Result<T, StoreError> + Send,
    ) -> (T, u64) {
        let before = self.queries.load(Ordering::Relaxed);
        let store: &dyn Store = &self.store;
        let found = store.read(work).expect("the store can be read");
        (found, self.queries.load(Ordering::Relaxed) - before)
    }

    pub fn write<T: Send>(
        &self,
        work: impl FnOnce(&mut dyn Tx) -> Result<T, StoreError> + Send,
    ) -> T {
        let store: &dyn Store = &self.store;
        store.write(work).expect("tests store what can be stored")
    }
}
