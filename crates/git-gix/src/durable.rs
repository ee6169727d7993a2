//! Files and folders that are there after a power cut, too.
//!
//! A file is on disk once it is synced; that it has its name, once its folder is.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;

use hexforge_domain::ports::git::GitError;

use crate::error::io;

/// Makes what was made, renamed or removed in a folder last.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), GitError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(io)
}

/// Puts a file on disk, if it is there.
pub(crate) fn sync_file(file: &Path) -> Result<(), GitError> {
    match File::open(file).and_then(|file| file.sync_all()) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(io(error)),
        _ => Ok(()),
    }
}

/// Makes a folder with all that are missing above it.
pub(crate) fn make_folders(folder: &Path) -> Result<(), GitError> {
    if folder.is_dir() {
        return Ok(());
    }
    let above = folder.parent().ok_or_else(|| GitError::Failed("no folder".into()))?;
    make_folders(above)?;
    match fs::create_dir(folder) {
        // Somebody else was faster.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        made => made.map_err(io).and_then(|()| sync_folder(above)),
    }
}
