//! The temporary directory of a backup.

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::system::random_name;

/// A temporary directory beside the file to be written. Dropping this removes it.
pub(super) struct StagingFolder {
    pub folder: PathBuf,
}

impl StagingFolder {
    pub fn beside(file: &Path) -> Result<Self> {
        let name = file.file_name().context("the path of the backup has no file name")?;
        let name = format!(".{}-{}", name.to_string_lossy(), random_name());
        let folder = file.with_file_name(name);
        DirBuilder::new()
            .mode(0o700)
            .create(&folder)
            .with_context(|| format!("{} cannot be created", folder.display()))?;
        // An absolute path, because the copy of the database is opened by it.
        Ok(Self { folder: folder.canonicalize()? })
    }

    pub fn unfinished(&self) -> PathBuf {
        self.folder.join("unfinished")
    }

    /// Creates the file, readable only by its owner.
    pub fn create(&self) -> io::Result<File> {
        File::options().write(true).create_new(true).mode(0o600).open(self.unfinished())
    }

    pub fn finish(&self, written: &File, file: &Path) -> Result<()> {
        written.sync_all()?;
        // Unlike a rename, this fails if the file exists meanwhile.
        fs::hard_link(self.unfinished(), file)
            .or_else(|error| match error.kind() {
                ErrorKind::AlreadyExists => Err(error),
                // Not every file system has hard links.
                _ => fs::rename(self.unfinished(), file),
            })
            .with_context(|| format!("{} cannot be written", file.display()))?;
        let folder = self.folder.parent().unwrap_or(Path::new("/"));
        Ok(File::open(folder)?.sync_all()?)
    }
}

impl Drop for StagingFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
