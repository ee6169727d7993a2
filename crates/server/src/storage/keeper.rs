//! Limits the size of the cache of packs.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use hexforge_blobs_object_store::CachedPacks;
use hexforge_git_gix::GixStore;

use super::CacheFolders;
use crate::config::Config;
use crate::system;

/// How long a start waits for the previous process to end.
const HANDOVER: Duration = Duration::from_secs(30);

/// Older unfinished files were left by a stopped process. Younger ones may belong to a running command.
const UNFINISHED: Duration = Duration::from_secs(24 * 60 * 60);

/// The least free space on the disk in bytes; below it, packs are evicted.
const RESERVE: u64 = 512 << 20;

/// The shortest time for which a repository keeps its packs.
const LINKED: Duration = Duration::from_secs(10);

/// Limits the size of the cache of packs. It holds a lock on the cache directory: a second server
/// could evict packs that this one is reading.
pub struct CacheKeeper {
    packs: Arc<CachedPacks>,
    git: GixStore,
    folder: PathBuf,
    _lock: File,
}

impl CacheKeeper {
    /// Locks the cache of a data folder, and removes unfinished files of stopped processes.
    pub fn start(config: &Config, packs: Arc<CachedPacks>, git: GixStore) -> Result<Self> {
        let folders = CacheFolders::new(config);
        system::make_folders(&folders.root)?;
        let lock = lock(&folders.root.join("lock"))?;
        for folder in [&folders.receiving, &folders.packs.join(CachedPacks::INCOMING)] {
            remove_old_files(folder)?;
        }
        Ok(Self { packs, git, folder: folders.root, _lock: lock })
    }

    /// Evicts the least recently used packs while the cache is too large or the disk is nearly full.
    ///
    /// Repositories whose packs were just linked keep them. Otherwise one reader of a repository
    /// larger than the cache would evict the packs of all others again and again.
    pub fn trim(&self) {
        let free = rustix::fs::statvfs(&self.folder).map(|disk| disk.f_bavail * disk.f_frsize);
        let lacking = free.map_or(0, |free| RESERVE.saturating_sub(free));
        if lacking > 0 {
            self.packs.request_space(lacking);
        }
        if self.packs.excess() == 0 {
            return;
        }
        let is_too_large = || {
            if let Err(error) = self.packs.evict_unlinked() {
                tracing::warn!(%error, "packs cannot be evicted from the cache");
            }
            self.packs.excess() > 0
        };
        if is_too_large()
            && let Err(error) = self.git.unlink_idle(LINKED, &mut || is_too_large())
        {
            tracing::warn!(%error, "repositories cannot release their packs in the cache");
        }
    }
}

fn lock(path: &Path) -> Result<File> {
    let file = File::options().create(true).truncate(false).write(true).open(path)?;
    let until = Instant::now() + HANDOVER;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::Error(error)) => return Err(error.into()),
            Err(fs::TryLockError::WouldBlock) if Instant::now() < until => {
                thread::sleep(Duration::from_millis(100));
            }
            Err(fs::TryLockError::WouldBlock) => bail!(
                "another process serves {}: with an object store each process has a data folder of its own",
                path.parent().and_then(Path::parent).unwrap_or(path).display()
            ),
        }
    }
}

fn remove_old_files(folder: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let age = entry.metadata().and_then(|found| found.modified()).ok();
        let age = age.and_then(|changed| changed.elapsed().ok());
        if age.is_some_and(|age| age > UNFINISHED) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
