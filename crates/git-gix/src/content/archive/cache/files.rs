//! The files of kept archives.

use std::fs::{self, DirEntry, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use hexforge_domain::id::ProjectId;
use hexforge_domain::repository::Archive;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

/// What the name of an archive that is not complete yet begins with.
const UNFINISHED: &str = "unfinished-";
/// What is unfinished and was not written to for so long was left behind by a process that ended.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// The folder that archives are kept in.
pub(super) struct Files {
    folder: PathBuf,
    budget: u64,
    /// One look for what has to go is enough at a time.
    making_room: Mutex<()>,
}

impl Files {
    pub(super) fn new(folder: PathBuf, budget: u64) -> Self {
        Self { folder, budget, making_room: Mutex::new(()) }
    }

    pub(super) fn budget(&self) -> u64 {
        self.budget
    }

    /// The name of an archive's file. No text that a caller chose is in it.
    pub(super) fn name(project: ProjectId, archive: &Archive) -> String {
        let mut hash = Sha256::new();
        hash.update(archive.commit.as_bytes());
        hash.update(archive.format.extension());
        hash.update([0]);
        hash.update(&archive.folder);
        let hash: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{}{hash}", prefix(project))
    }

    pub(super) fn open(&self, name: &str) -> Option<File> {
        File::open(self.folder.join(name)).ok()
    }

    /// A file for an archive that is being made; it is removed when it is dropped. `None` when there can be
    /// none, which is no reason not to make the archive.
    pub(super) fn begin(&self) -> Option<NamedTempFile> {
        let begun = fs::create_dir_all(&self.folder)
            .and_then(|()| tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.folder));
        begun.inspect_err(|error| tracing::warn!(%error, "archives cannot be kept")).ok()
    }

    /// Puts a complete archive in its place.
    pub(super) fn keep(&self, copy: NamedTempFile, name: &str) {
        // Without this a file could be there, but empty, after the machine went down.
        let kept = copy
            .as_file()
            .sync_data()
            .and_then(|()| copy.persist(self.folder.join(name)).map_err(io::Error::from).map(drop));
        match kept {
            Ok(()) => self.make_room(),
            Err(error) => tracing::warn!(%error, "an archive could not be kept"),
        }
    }

    pub(super) fn forget(&self, project: ProjectId) {
        let prefix = prefix(project);
        for file in self.list() {
            if file.file_name().to_string_lossy().starts_with(&prefix) {
                remove(&file.path());
            }
        }
    }

    /// Removes what was not asked for the longest until the rest fits.
    fn make_room(&self) {
        let _one = self.making_room.lock().unwrap_or_else(PoisonError::into_inner);
        let now = SystemTime::now();
        let mut kept = Vec::new();
        for file in self.list() {
            // What another process just removed has no length any more.
            let Ok((used, length)) = used_and_length(&file) else { continue };
            if !file.file_name().to_string_lossy().starts_with(UNFINISHED) {
                kept.push((used, length, file.path()));
            } else if now.duration_since(used).is_ok_and(|age| age > ABANDONED) {
                remove(&file.path());
            }
        }
        kept.sort();
        let mut total: u64 = kept.iter().map(|(_, length, _)| length).sum();
        for (_, length, path) in kept {
            if total <= self.budget {
                break;
            }
            remove(&path);
            total -= length;
        }
    }

    fn list(&self) -> Vec<DirEntry> {
        fs::read_dir(&self.folder).into_iter().flatten().flatten().collect()
    }
}

/// What the names of all archives of a project begin with.
fn prefix(project: ProjectId) -> String {
    format!("{}-", project.0)
}

fn used_and_length(file: &DirEntry) -> io::Result<(SystemTime, u64)> {
    let facts = file.metadata()?;
    Ok((facts.modified()?, facts.len()))
}

fn remove(path: &Path) {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(%error, "a kept archive could not be removed");
        }
        _ => {}
    }
}
