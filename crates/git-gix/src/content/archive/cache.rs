//! Finished archives, kept on disk as long as there is room.
//!
//! Several processes may share the folder: an archive appears in it whole, under a name that says what it
//! is, and is removed whole. Nothing but the files themselves is remembered.

mod copying;
mod files;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::{Caller, Lane};
use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::Archive;

use self::copying::{Copying, Processors};
use self::files::Files;
use super::Lasting;
use crate::block;
use crate::error::{io, reader_gone};

/// How many bytes of archives are kept unless said otherwise.
pub(crate) const BUDGET: u64 = 1 << 30;
/// How long an archive that is being made waits for a processor; others need one for milliseconds at a time.
const LONGEST_WAIT: Duration = Duration::from_secs(10 * 60);
/// How much of a kept archive is in memory at a time.
const PIECE: usize = 64 << 10;

/// The archives that are kept, and those that are being made.
pub(crate) struct ArchiveCache {
    files: Files,
    /// Those that are made share the processors: more at work at a time would only be in the way of others.
    processors: Lane,
}

impl ArchiveCache {
    /// Keeps at most `budget` bytes in the folder. How many archives are made at a time is up to the callers, who
    /// need a permit.
    pub(crate) fn new(folder: PathBuf, budget: u64) -> Self {
        Self { files: Files::new(folder, budget), processors: block::processors() }
    }

    /// Writes an archive as it is kept, or as it is being made.
    /// # Errors
    /// Those of `make`.
    pub(crate) fn write(
        &self,
        (project, caller): (ProjectId, Caller),
        archive: &Archive,
        to: &mut dyn Write,
        make: impl FnOnce(&mut dyn Write) -> Result<Lasting, GitError>,
    ) -> Result<(), GitError> {
        let name = Files::name(project, archive);
        if let Some(kept) = self.files.open(&name) {
            return serve(kept, to);
        }
        let copy = self.files.begin();
        let processors = Processors { lane: &self.processors, caller };
        let mut copying = Copying::new(to, copy, self.files.budget(), processors)?;
        let lasting = make(&mut copying)?;
        if let (Lasting::Yes, Some(copy)) = (lasting, copying.finish()) {
            self.files.keep(copy, &name);
        }
        Ok(())
    }

    /// Removes what is kept of a project.
    pub(crate) fn forget(&self, project: ProjectId) {
        self.files.forget(project);
    }
}

fn serve(mut kept: File, to: &mut dyn Write) -> Result<(), GitError> {
    // By this time it is decided what goes first when room is needed. That it fails is no reason to fail.
    let _ = kept.set_modified(SystemTime::now());
    let mut buffer = vec![0; PIECE];
    loop {
        let length = kept.read(&mut buffer).map_err(io)?;
        if length == 0 {
            return to.flush().map_err(reader_gone);
        }
        to.write_all(&buffer[..length]).map_err(reader_gone)?;
    }
}
