//! What tests need: fakes of every port, builders of valid values, and the contract that every
//! implementation of the store has to keep.

pub mod build_files_contract;
pub mod builders;
pub mod contract;
pub mod fakes;
pub mod uploads_contract;

use hexforge_domain::ports::store::Store;
use std::any::Any;
use std::sync::Arc;

/// An empty store that a test has to itself.
pub struct OpenStore {
    /// The store.
    pub store: Arc<dyn Store>,
    /// What has to live as long as the store, such as its folder. It is dropped after the store.
    pub guard: Box<dyn Any>,
}

impl OpenStore {
    /// A store that needs nothing else to live.
    pub fn new(store: impl Store + 'static) -> Self {
        Self::guarded(store, ())
    }

    /// A store together with what has to live as long as it does.
    pub fn guarded(store: impl Store + 'static, guard: impl Any) -> Self {
        Self { store: Arc::new(store), guard: Box::new(guard) }
    }
}
