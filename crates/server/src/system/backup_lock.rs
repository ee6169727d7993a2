//! The lock that keeps removed files on disk while a backup is made.
//!
//! A backup has the files of the moment at which its database was copied, so the trash is not emptied while any process
//! holds the lock. A lock file that is not locked was left by a process that was killed.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often the lock is tried, and the pause between two tries.
const TRIES: u32 = 10;
const BETWEEN: Duration = Duration::from_millis(20);

/// Keeps removed files on disk until it is dropped.
pub struct BackupLock {
    path: PathBuf,
    _lock: File,
}

fn path(data: &Path) -> PathBuf {
    data.join("backup.lock")
}

impl BackupLock {
    /// Takes the lock of a data folder. Returns `None` if another process holds it.
    pub fn take(data: &Path) -> io::Result<Option<Self>> {
        let path = path(data);
        for _ in 0..TRIES {
            let lock = File::create(&path)?;
            match lock.try_lock() {
                Ok(()) if is_at(&lock, &path) => return Ok(Some(Self { path, _lock: lock })),
                // The previous holder released the lock just now and removed the file.
                Ok(()) => (),
                // A call of `is_held` in another process has the lock for a moment.
                Err(TryLockError::WouldBlock) => std::thread::sleep(BETWEEN),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Ok(None)
    }
}

impl Drop for BackupLock {
    fn drop(&mut self) {
        // If the file cannot be removed, the next call of `is_held` removes it.
        let _ = fs::remove_file(&self.path);
    }
}

/// Returns whether a process holds the lock of a data folder.
pub fn is_held(data: &Path) -> bool {
    let path = path(data);
    let Ok(lock) = File::open(&path) else { return false };
    match lock.try_lock() {
        Ok(()) => {
            if is_at(&lock, &path) {
                let _ = fs::remove_file(&path);
            }
            false
        }
        Err(_) => true,
    }
}

/// Returns whether an open file is the one at a path.
fn is_at(file: &File, path: &Path) -> bool {
    let same = |file: fs::Metadata, there: fs::Metadata| {
        (file.dev(), file.ino()) == (there.dev(), there.ino())
    };
    file.metadata().and_then(|file| Ok(same(file, fs::metadata(path)?))).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_has_the_lock_until_it_drops_it() {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let take = || BackupLock::take(folder.path()).expect("the folder can be written");
        assert!(!is_held(folder.path()));
        let lock = take();
        assert!(lock.is_some() && is_held(folder.path()));
        assert!(take().is_none());
        drop(lock);
        assert!(!is_held(folder.path()));
        // A holder that was killed leaves the file and no lock.
        fs::write(path(folder.path()), "").expect("the folder can be written");
        assert!(!is_held(folder.path()));
        assert!(!path(folder.path()).exists());
        assert!(take().is_some());
    }
}
