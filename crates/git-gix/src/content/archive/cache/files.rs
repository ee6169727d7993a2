//! The files of cached archives.

use std::fs::{self, DirEntry, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use hexforge_domain::id::ProjectId;
use hexforge_domain::repository::Archive;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

/// The name prefix of incomplete archives.
const UNFINISHED: &str = "unfinished-";
/// Incomplete archives older than this were left by a process that stopped.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// The folder of the archive cache.
pub(super) struct Files {
    folder: PathBuf,
    budget: u64,
    /// Locked during eviction: only one thread at a time needs to scan the folder.
    evicting: Mutex<()>,
}

impl Files {
    pub(super) fn new(folder: PathBuf, budget: u64) -> Self {
        Self { folder, budget, evicting: Mutex::new(()) }
    }

    pub(super) fn budget(&self) -> u64 {
        self.budget
    }

    /// The file name of an archive. It contains no text that a caller chose.
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

    /// Creates a temporary file for a new archive, which is removed on drop. Returns `None` when that fails: the
    /// archive is then sent without being cached.
    pub(super) fn create_temporary(&self) -> Option<NamedTempFile> {
        let begun = fs::create_dir_all(&self.folder)
            .and_then(|()| tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.folder));
        begun.inspect_err(|error| tracing::warn!(%error, "archives cannot be cached")).ok()
    }

    /// Renames a complete archive into the cache.
    pub(super) fn add(&self, copy: NamedTempFile, name: &str) {
        // Without the sync the file could be empty after a power failure.
        let kept = copy
            .as_file()
            .sync_data()
            .and_then(|()| copy.persist(self.folder.join(name)).map_err(io::Error::from).map(drop));
        match kept {
            Ok(()) => self.evict(),
            Err(error) => tracing::warn!(%error, "an archive could not be cached"),
        }
    }

    pub(super) fn remove_all(&self, project: ProjectId) {
        let prefix = prefix(project);
        for file in self.list() {
            if file.file_name().to_string_lossy().starts_with(&prefix) {
                remove(&file.path());
            }
        }
    }

    /// Evicts the least recently used archives until the rest fits into the budget.
    fn evict(&self) {
        let _one = self.evicting.lock().unwrap_or_else(PoisonError::into_inner);
        let now = SystemTime::now();
        let mut kept = Vec::new();
        for file in self.list() {
            // Another process may have removed the file.
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

/// The name prefix of all archives of a project.
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
            tracing::warn!(%error, "a cached archive could not be removed");
        }
        _ => {}
    }
}
