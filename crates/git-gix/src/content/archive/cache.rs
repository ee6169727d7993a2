//! A cache of finished archives on disk, limited by size.
//!
//! Several processes may share the folder: archives are renamed into it when they are complete, and their names
//! identify their content. The files are the only state of the cache.

mod copying;
mod files;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::{Caller, PermitPool};
use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::Archive;

use self::copying::{CopyingWriter, Processors};
use self::files::Files;
use super::Cacheable;
use crate::block;
use crate::error::{io_failed, reader_gone};

/// The default size limit of the cache, in bytes.
pub(crate) const BUDGET: u64 = 1 << 30;
/// The maximum time that an archive in progress waits for a processor permit. Others hold a permit for milliseconds.
const LONGEST_WAIT: Duration = Duration::from_secs(10 * 60);
/// The buffer size for sending a cached archive.
const PIECE: usize = 64 << 10;

/// The archive cache, and the processor permits of archives in progress.
pub(crate) struct ArchiveCache {
    files: Files,
    /// Processor permits of all archives in progress, which limit how much they slow down other requests.
    processors: PermitPool,
}

impl ArchiveCache {
    /// Keeps at most `budget` bytes in the folder. The callers limit the number of archives in progress by permits of
    /// their own.
    pub(crate) fn new(folder: PathBuf, budget: u64) -> Self {
        Self { files: Files::new(folder, budget), processors: block::processor_permits() }
    }

    /// Sends a cached archive, or makes one and sends it while it is written.
    /// # Errors
    /// Those of `make`.
    pub(crate) fn write(
        &self,
        (project, caller): (ProjectId, Caller),
        archive: &Archive,
        to: &mut dyn Write,
        make: impl FnOnce(&mut dyn Write) -> Result<Cacheable, GitError>,
    ) -> Result<(), GitError> {
        let name = Files::name(project, archive);
        if let Some(cached) = self.files.open(&name) {
            return send_cached(cached, to);
        }
        let copy = self.files.create_temporary();
        let processors = Processors { pool: &self.processors, caller };
        let mut copying = CopyingWriter::new(to, copy, self.files.budget(), processors)?;
        let cacheable = make(&mut copying)?;
        if let (Cacheable::Yes, Some(copy)) = (cacheable, copying.finish()) {
            self.files.add(copy, &name);
        }
        Ok(())
    }

    /// Removes the cached archives of a project.
    pub(crate) fn forget(&self, project: ProjectId) {
        self.files.remove_all(project);
    }
}

fn send_cached(mut cached: File, to: &mut dyn Write) -> Result<(), GitError> {
    // The modification time is the time of last use, by which archives are evicted. An error here is harmless.
    let _ = cached.set_modified(SystemTime::now());
    let mut buffer = vec![0; PIECE];
    loop {
        let length = cached.read(&mut buffer).map_err(io_failed)?;
        if length == 0 {
            return to.flush().map_err(reader_gone);
        }
        to.write_all(&buffer[..length]).map_err(reader_gone)?;
    }
}
