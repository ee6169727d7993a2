//! SQLite: a copy of the file.

use std::fs::{self, File};
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use diesel::connection::SimpleConnection;

use super::{BackupError, Parts};
use crate::database::connection::{DatabaseUrl, Role};

/// The one part.
const PART: &str = "database.sqlite";

/// Copies the database as it is now: those who write go on meanwhile, and their changes are not in it.
pub(super) fn copy(url: &DatabaseUrl, scratch: &Path) -> Result<PathBuf, BackupError> {
    let copy = scratch.join(PART);
    let path = copy.to_str().ok_or_else(|| BackupError::Refused("no path in UTF-8".into()))?;
    // A parameter is not taken here; a quote is doubled in a text.
    let statement = format!("VACUUM INTO '{}'", path.replace('\'', "''"));
    url.connect(Role::Writer)?.batch_execute(&statement)?;
    Ok(copy)
}

pub(super) fn give(copy: &Path, parts: &mut dyn Parts) -> Result<(), BackupError> {
    parts.part(PART, &mut |to| {
        io::copy(&mut File::open(copy)?, to)?;
        Ok(())
    })
}

/// Puts the file beside its place, and moves it there in the end.
pub struct SqliteRestore {
    path: PathBuf,
    beside: PathBuf,
}

impl SqliteRestore {
    pub(super) fn begin(path: &Path) -> Result<Self, BackupError> {
        let beside = |end: &str| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            path.with_file_name(format!("{name}{end}"))
        };
        for file in [path.to_owned(), beside("-wal")] {
            if file.exists() {
                let why = format!("there is a database already at {}", file.display());
                return Err(BackupError::Refused(why));
            }
        }
        Ok(Self { path: path.to_owned(), beside: beside(".restoring") })
    }

    pub(super) fn part(
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
        let mut file = private(&self.beside)?;
        io::copy(content, &mut file)?;
        Ok(file.sync_all()?)
    }

    pub(super) fn finish(self) -> Result<(), BackupError> {
        fs::rename(&self.beside, &self.path)?;
        if let Some(folder) = self.path.parent() {
            File::open(folder)?.sync_all()?;
        }
        Ok(())
    }
}

impl Drop for SqliteRestore {
    fn drop(&mut self) {
        // Once it is in its place there is nothing here.
        let _ = fs::remove_file(&self.beside);
    }
}

/// A new file for nobody else to read.
fn private(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().write(true).create(true).truncate(true).mode(0o600).open(path)
}
