//! Objects compressed for sending, kept for the next client.
//!
//! An object that is stored as a delta on something that the client does not get has to be put together and compressed
//! anew. That is most of the work of a shallow clone, and every build begins with one.

use std::sync::Arc;

use gix::ObjectId;
use gix::odb::pack::data::entry::Header;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// The largest object that is kept, by its size before compression.
pub(super) const LARGEST: u64 = 2 << 20;

/// How many compressed bytes are kept, and of how many objects that is expected to be.
const BYTES: u64 = 32 << 20;
const OBJECTS: usize = 8000;

/// An object as an entry of a pack has it.
pub(super) struct Compressed {
    pub(super) header: Header,
    /// Before compression.
    pub(super) size: u64,
    pub(super) data: Vec<u8>,
}

/// Objects of all repositories, by their ids: equal ids are equal contents.
pub(crate) struct CompressedObjects(Cache<ObjectId, Arc<Compressed>, ByLength>);

#[derive(Clone)]
struct ByLength;

impl Weighter<ObjectId, Arc<Compressed>> for ByLength {
    fn weight(&self, _: &ObjectId, object: &Arc<Compressed>) -> u64 {
        // With what it takes to keep it.
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

    pub(super) fn keep(&self, id: ObjectId, object: Compressed) -> Arc<Compressed> {
        let object = Arc::new(object);
        self.0.insert(id, Arc::clone(&object));
        object
    }
}
