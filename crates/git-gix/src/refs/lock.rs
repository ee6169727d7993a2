//! The files by which git programs keep each other from writing the same file.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hexforge_domain::ports::git::GitError;

use crate::durable::make_folders;
use crate::error::io;

/// How often a folder is made again that another program removes because it is empty.
const FOLDER_ATTEMPTS: usize = 50;

/// How long programs that are not ours may hold a lock.
const PATIENCE: Duration = Duration::from_secs(5);

/// A file that only we write, until this is dropped.
pub(crate) struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    /// Waits for a lock, but not for long.
    pub(super) fn take(file: &Path) -> Result<Self, GitError> {
        let path = lock_of(file);
        let begun = Instant::now();
        loop {
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok(Self { path, file }),
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(io(error)),
                Err(_) if begun.elapsed() > PATIENCE => {
                    return Err(GitError::Failed(format!("{} is in the way", path.display())));
                }
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }

    /// Waits for the lock of a file whose folder may be missing. A program that packs refs removes empty folders, at
    /// any moment before the lock is in them.
    pub(super) fn take_in_new_folder(file: &Path, folder: &Path) -> Result<Self, GitError> {
        for _ in 1..FOLDER_ATTEMPTS {
            match make_folders(folder).and_then(|()| Self::take(file)) {
                Err(_) if !folder.is_dir() => (),
                taken => return taken,
            }
        }
        make_folders(folder)?;
        Self::take(file)
    }

    /// Waits for the lock of a file that exists; nothing when another program removed it meanwhile.
    pub(super) fn take_of_existing(file: &Path) -> Result<Option<Self>, GitError> {
        match Self::take(file) {
            Err(_) if !file.exists() => Ok(None),
            taken => taken.map(Some),
        }
    }

    /// Puts this into the file's place, in one step; its folder is left to the caller.
    pub(super) fn replace(mut self, file: &Path, content: &[u8]) -> Result<(), GitError> {
        self.file.write_all(content).and_then(|()| self.file.sync_all()).map_err(io)?;
        fs::rename(&self.path, file).map_err(io)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // After a replacement it is gone already.
        let _ = fs::remove_file(&self.path);
    }
}

fn lock_of(file: &Path) -> PathBuf {
    let mut path = file.as_os_str().to_owned();
    path.push(".lock");
    path.into()
}
