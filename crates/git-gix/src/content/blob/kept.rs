//! Small files that are kept unpacked: what somebody asks for is soon asked for again.

use std::io::Write;
use std::sync::Arc;

use gix::ObjectId;
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::git::GitError;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::Stored;
use crate::error::reader_gone;

/// Larger files are unpacked each time.
const LARGEST: u64 = 32 << 10;

/// How many bytes are kept, and of how many files that is expected to be.
const BYTES: u64 = 16 << 20;
const FILES: usize = 4000;

type Key = (ProjectId, ObjectId);

/// Files of all repositories, by the names of their contents, which therefore never change.
pub(crate) struct KeptFiles(Cache<Key, Arc<[u8]>, ByLength>);

#[derive(Clone)]
struct ByLength;

impl Weighter<Key, Arc<[u8]>> for ByLength {
    fn weight(&self, _: &Key, bytes: &Arc<[u8]>) -> u64 {
        // With what it takes to keep it.
        bytes.len() as u64 + 150
    }
}

impl Default for KeptFiles {
    fn default() -> Self {
        Self(Cache::with_weighter(FILES, BYTES, ByLength))
    }
}

impl KeptFiles {
    /// Writes the content of a file of a project, holding little of it.
    pub(crate) fn write(
        &self,
        project: ProjectId,
        repo: &gix::Repository,
        id: ObjectId,
        to: &mut dyn Write,
    ) -> Result<(), GitError> {
        // Even what is kept has to be there.
        let stored = Stored::find(repo, id)?;
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
