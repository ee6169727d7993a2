//! Caches objects that were compressed for sending.
//!
//! An object whose stored delta base is not sent has to be rebuilt and compressed again. That is
//! most of the work of a shallow clone, and every CI build begins with one.

use std::sync::Arc;

use gix::ObjectId;
use gix::odb::pack::data::entry::Header;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// The largest object that is cached, by its size before compression.
pub(super) const LARGEST: u64 = 2 << 20;

/// The capacity of the cache in compressed bytes, and the expected number of objects.
const BYTES: u64 = 32 << 20;
const OBJECTS: usize = 8000;

/// An object in the form of a pack entry.
pub(super) struct Compressed {
    pub(super) header: Header,
    /// The size before compression.
    pub(super) size: u64,
    pub(super) data: Vec<u8>,
}

/// The cache, shared by all repositories: equal object ids mean equal contents.
pub(crate) struct CompressedObjects(Cache<ObjectId, Arc<Compressed>, ByLength>);

#[derive(Clone)]
struct ByLength;

impl Weighter<ObjectId, Arc<Compressed>> for ByLength {
    fn weight(&self, _: &ObjectId, object: &Arc<Compressed>) -> u64 {
        // An estimate of the overhead per cached object is added.
        object.data.len() as u64 + 150
    }
}

impl Default for CompressedObjects {
    fn default() -> Self {
        Self(Cache::with_weighter(OBJECTS, BYTES, ByLength))
    }
}

impl CompressedObjects {
    pub(super) fn get(&self, id: ObjectId) -> Option<Arc<Compressed>> {
        self.0.get(&id)
    }

    pub(super) fn insert(&self, id: ObjectId, object: Compressed) -> Arc<Compressed> {
        let object = Arc::new(object);
        self.0.insert(id, Arc::clone(&object));
        object
    }
}
