//! A cache of small blobs, decompressed.

use std::io::Write;
use std::sync::Arc;

use gix::ObjectId;
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::git::GitError;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::StoredBlob;
use crate::error::reader_gone;

/// Larger blobs are not cached.
const LARGEST: u64 = 32 << 10;

/// The maximum number of cached bytes, and the expected number of blobs.
const BYTES: u64 = 16 << 20;
const FILES: usize = 4000;

type Key = (ProjectId, ObjectId);

/// Blobs of all repositories by object id. Objects never change, so entries never become stale.
pub(crate) struct BlobCache(Cache<Key, Arc<[u8]>, ByLength>);

#[derive(Clone)]
struct ByLength;

impl Weighter<Key, Arc<[u8]>> for ByLength {
    fn weight(&self, _: &Key, bytes: &Arc<[u8]>) -> u64 {
        // 150 bytes for the overhead of a cache entry.
        bytes.len() as u64 + 150
    }
}

impl Default for BlobCache {
    fn default() -> Self {
        Self(Cache::with_weighter(FILES, BYTES, ByLength))
    }
}

impl BlobCache {
    /// Writes the content of a blob, from the cache if possible. Large blobs are streamed.
    pub(crate) fn write(
        &self,
        project: ProjectId,
        repo: &gix::Repository,
        id: ObjectId,
        to: &mut dyn Write,
    ) -> Result<(), GitError> {
        // A cached blob must still exist in the repository.
        let stored = StoredBlob::find(repo, id)?;
        if stored.size > LARGEST {
            return stored.write(repo, to);
        }
        let bytes = match self.0.get(&(project, id)) {
            Some(bytes) => bytes,
            None => {
                let mut buffer = Vec::new();
                stored.read(repo, &mut buffer)?;
                let bytes: Arc<[u8]> = buffer.into();
                self.0.insert((project, id), Arc::clone(&bytes));
                bytes
            }
        };
        to.write_all(&bytes).map_err(reader_gone)
    }
}
