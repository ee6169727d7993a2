//! Caches of builds: one archive per project and key, replaced at once, so that builds that run at the same time
//! neither see half a cache nor wait for each other.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use crate::error::Error;

/// The caches of a runner.
#[derive(Clone, Debug)]
pub struct Caches(PathBuf);

impl Caches {
    /// Caches below this folder.
    pub fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// Opens the archive of a cache. Returns `None` if there is no such cache.
    /// # Errors
    /// The archive cannot be opened.
    pub fn open(&self, project: i64, key: &str) -> Result<Option<File>, Error> {
        let file = self.file(project, key);
        match File::open(&file) {
            Ok(archive) => Ok(Some(archive)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::at(&file)(error)),
        }
    }

    /// Replaces a cache by the archive that `pack` writes. Returns the number of files, which `pack` counts.
    /// # Errors
    /// The archive cannot be written; then the old one stays.
    pub fn store(
        &self,
        project: i64,
        key: &str,
        pack: impl FnOnce(File) -> Result<usize, Error>,
    ) -> Result<usize, Error> {
        let file = self.file(project, key);
        let parent = file.parent().unwrap_or(&self.0);
        fs::create_dir_all(parent).map_err(Error::at(parent))?;
        let new = tempfile::NamedTempFile::new_in(parent).map_err(Error::at(parent))?;
        let packed = pack(new.reopen().map_err(Error::at(parent))?)?;
        new.persist(&file).map_err(|error| Error::at(&file)(error.error))?;
        Ok(packed)
    }

    /// The name of a file is a hash of the key, which may contain anything.
    fn file(&self, project: i64, key: &str) -> PathBuf {
        let hash = Sha256::digest(key.as_bytes());
        let name: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        self.0.join(project.to_string()).join(name + ".zip")
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_cache_is_restored_for_its_project_and_key() {
        let folder = tempfile::tempdir().expect("a folder");
        let caches = Caches::new(folder.path().join("cache"));
        let open = |project, key| caches.open(project, key).expect("it can be opened");
        assert!(open(1, "key/../x").is_none());
        for text in ["1", "2"] {
            let write = |mut out: File| {
                out.write_all(text.as_bytes()).expect("written");
                Ok(1)
            };
            assert_eq!(caches.store(1, "key/../x", write).expect("stored"), 1);
            let stored =
                open(1, "key/../x").map(|file| std::io::read_to_string(file).expect("text"));
            assert_eq!(stored.as_deref(), Some(text));
        }
        assert!(caches.store(1, "key/../x", |_| Err(Error::step("full"))).is_err());
        assert!(open(1, "key/../x").is_some() && open(2, "key/../x").is_none());
        assert!(open(1, "other").is_none());
    }
}
