//! SQLite: a copy of the file.

use std::fs::{self, File};
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use diesel::connection::SimpleConnection;

use super::{BackupError, Parts};
use crate::database::connection::{DatabaseUrl, Role};

/// The name of the only part.
const PART: &str = "database.sqlite";

/// Copies the current state of the database. Writers continue meanwhile, and their changes are not in the copy.
pub(super) fn copy(url: &DatabaseUrl, scratch: &Path) -> Result<PathBuf, BackupError> {
    let copy = scratch.join(PART);
    let path = copy.to_str().ok_or_else(|| {
        BackupError::Refused("the path of the temporary folder is not UTF-8".into())
    })?;
    // `VACUUM INTO` gets the path as a literal, so quotes are doubled.
    let statement = format!("VACUUM INTO '{}'", path.replace('\'', "''"));
    url.connect(Role::Writer)?.batch_execute(&statement)?;
    Ok(copy)
}

pub(super) fn write_parts(copy: &Path, parts: &mut dyn Parts) -> Result<(), BackupError> {
    parts.receive_part(PART, &mut |to| {
        io::copy(&mut File::open(copy)?, to)?;
        Ok(())
    })
}

/// Writes the file next to its final path, and renames it at the end.
pub struct SqliteRestore {
    path: PathBuf,
    temporary: PathBuf,
}

impl SqliteRestore {
    pub(super) fn begin(path: &Path) -> Result<Self, BackupError> {
        let with_suffix = |end: &str| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            path.with_file_name(format!("{name}{end}"))
        };
        for file in [path.to_owned(), with_suffix("-wal")] {
            if file.exists() {
                let why = format!("a database already exists at {}", file.display());
                return Err(BackupError::Refused(why));
            }
        }
        Ok(Self { path: path.to_owned(), temporary: with_suffix(".restoring") })
    }

    pub(super) fn restore_part(
        &mut self,
        name: &str,
        content: &mut dyn BufRead,
    ) -> Result<(), BackupError> {
        if name != PART {
            return Err(BackupError::Refused(format!("the backup has an unknown part `{name}`")));
        }
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = create_private_file(&self.temporary)?;
        io::copy(content, &mut file)?;
        Ok(file.sync_all()?)
    }

    pub(super) fn finish(self) -> Result<(), BackupError> {
        fs::rename(&self.temporary, &self.path)?;
        if let Some(folder) = self.path.parent() {
            File::open(folder)?.sync_all()?;
        }
        Ok(())
    }
}

impl Drop for SqliteRestore {
    fn drop(&mut self) {
        // After a successful restore the file was renamed, and there is nothing to remove.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Creates a file that only its owner can read.
fn create_private_file(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().write(true).create(true).truncate(true).mode(0o600).open(path)
}
