//! Files and folders that are there after a power cut, too.
//!
//! A file is on disk once it is synced; that it has its name, once its folder is.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
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

/// Writes a file; its folder is left to the caller.
pub(crate) fn write_file(file: &Path, content: &[u8]) -> Result<(), GitError> {
    let mut file = File::create(file).map_err(io)?;
    file.write_all(content).and_then(|()| file.sync_all()).map_err(io)
}

/// Puts a new file in the place of another, in one step; its folder is left to the caller.
pub(crate) fn replace_file(file: &Path, content: &[u8]) -> Result<(), GitError> {
    let folder = file.parent().ok_or_else(|| GitError::Failed("no folder".into()))?;
    // Copies of repositories leave files of this name out.
    let mut new = tempfile::Builder::new().prefix("tmp_").tempfile_in(folder).map_err(io)?;
    new.write_all(content).and_then(|()| new.as_file().sync_all()).map_err(io)?;
    new.persist(file).map(drop).map_err(|error| io(error.error))
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
