//! Where a backup is until it is finished.

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::system::random_name;

/// A folder for what is not finished, beside the file that it will be; it goes with this.
pub(super) struct StagingFolder {
    pub folder: PathBuf,
}

impl StagingFolder {
    pub fn beside(file: &Path) -> Result<Self> {
        let name = file.file_name().context("the backup needs the name of a file")?;
        let name = format!(".{}-{}", name.to_string_lossy(), random_name());
        let folder = file.with_file_name(name);
        DirBuilder::new()
            .mode(0o700)
            .create(&folder)
            .with_context(|| format!("{} cannot be made", folder.display()))?;
        // The database is asked by its whole path.
        Ok(Self { folder: folder.canonicalize()? })
    }

    pub fn unfinished(&self) -> PathBuf {
        self.folder.join("unfinished")
    }

    /// For nobody else to read.
    pub fn create(&self) -> io::Result<File> {
        File::options().write(true).create_new(true).mode(0o600).open(self.unfinished())
    }

    pub fn finish(&self, written: &File, file: &Path) -> Result<()> {
        written.sync_all()?;
        // Unlike a rename this fails when somebody was faster.
        fs::hard_link(self.unfinished(), file)
            .or_else(|error| match error.kind() {
                ErrorKind::AlreadyExists => Err(error),
                // Not every file system has links.
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
