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
use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::Archive;

use self::copying::Copying;
use self::files::Files;
use super::Lasting;
use crate::admission::Admission;
use crate::error::{io, reader_gone};

/// How many bytes of archives are kept unless said otherwise.
pub(crate) const BUDGET: u64 = 1 << 30;
/// How many archives are made at a time unless said otherwise.
pub(crate) const AT_ONCE: usize = 8;
/// How long a caller waits for others before it is turned away.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long an archive that is being made waits for a processor; others need one for milliseconds at a time.
const LONGEST_TURN: Duration = Duration::from_secs(10 * 60);
/// How much of a kept archive is in memory at a time.
const PIECE: usize = 64 << 10;

/// The archives that are kept, and those that are being made.
pub(crate) struct ArchiveCache {
    files: Files,
    admission: Admission,
    /// Those that are made share the processors: more at work at a time would only be in the way of others.
    processors: Admission,
}

impl ArchiveCache {
    /// Keeps at most `budget` bytes in the folder, and makes at most `at_once` archives at a time.
    pub(crate) fn new(folder: PathBuf, budget: u64, at_once: usize) -> Self {
        Self::with_patience(folder, budget, at_once, PATIENCE)
    }

    fn with_patience(folder: PathBuf, budget: u64, at_once: usize, patience: Duration) -> Self {
        let processors = std::thread::available_parallelism().map_or(2, usize::from).max(2);
        Self {
            files: Files::new(folder, budget),
            admission: Admission::new(at_once, patience),
            processors: Admission::new(processors, LONGEST_TURN),
        }
    }

    /// Writes an archive as it is kept, or as it is being made.
    /// # Errors
    /// [`GitError::Busy`] when too many are being made for too long; otherwise those of `make`.
    pub(crate) fn write(
        &self,
        project: ProjectId,
        archive: &Archive,
        to: &mut dyn Write,
        make: impl FnOnce(&mut dyn Write) -> Result<Lasting, GitError>,
    ) -> Result<(), GitError> {
        let name = Files::name(project, archive);
        if let Some(kept) = self.files.open(&name) {
            return serve(kept, to);
        }
        let _admitted = self.admission.enter()?;
        // Whoever was before us may have made the same.
        if let Some(kept) = self.files.open(&name) {
            return serve(kept, to);
        }
        let copy = self.files.begin();
        let mut copying = Copying::new(to, copy, self.files.budget(), &self.processors)?;
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
