//! Test support for crates that use or implement the ports of `hexforge-domain`.
//!
//! - [`fakes`] has an implementation of every port in memory, for tests of use cases.
//! - [`builders`] creates valid values; a test sets only the fields that it is about.
//! - [`contract`] has the tests that every implementation of the [`Store`] has to
//!   pass. [`uploads_contract`], [`build_files_contract`] and [`lfs_files_contract`] have those of the ports to files.

pub mod build_files_contract;
pub mod builders;
pub mod contract;
pub mod fakes;
pub mod lfs_files_contract;
pub mod uploads_contract;

use hexforge_domain::ports::store::Store;
use std::any::Any;
use std::sync::Arc;

/// An empty store for one test.
pub struct OpenStore {
    /// The store.
    pub store: Arc<dyn Store>,
    /// A value that must live as long as the store, such as its temporary folder. It is dropped
    /// after the store.
    pub guard: Box<dyn Any>,
}

impl OpenStore {
    /// Wraps a store that needs no guard.
    pub fn new(store: impl Store + 'static) -> Self {
        Self::guarded(store, ())
    }

    /// Wraps a store with its guard.
    pub fn guarded(store: impl Store + 'static, guard: impl Any) -> Self {
        Self { store: Arc::new(store), guard: Box::new(guard) }
    }
}
