//! Caches of builds: one archive per project and key, replaced at once, so that builds that run at the same time
//! neither see half a cache nor wait for each other.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::archive::{self, Unpacked};
use crate::error::Error;

/// The caches of a runner.
#[derive(Clone, Debug)]
pub struct Caches(PathBuf);

impl Caches {
    /// Caches below this folder.
    pub fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// Unpacks a cache into a project folder. Returns `None` if there is no such cache.
    /// # Errors
    /// The cache cannot be unpacked.
    pub fn restore(
        &self,
        project: i64,
        key: &str,
        folder: &Path,
    ) -> Result<Option<Unpacked>, Error> {
        let file = self.file(project, key);
        if !file.exists() {
            return Ok(None);
        }
        archive::unpack(&file, folder).map(Some)
    }

    /// Replaces a cache by files of a project folder. Returns the number of files.
    /// # Errors
    /// The cache cannot be written; then the old one stays.
    pub fn store(
        &self,
        project: i64,
        key: &str,
        folder: &Path,
        files: &BTreeSet<PathBuf>,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<usize, Error> {
        let file = self.file(project, key);
        let parent = file.parent().unwrap_or(&self.0);
        fs::create_dir_all(parent).map_err(Error::at(parent))?;
        let new = tempfile::NamedTempFile::new_in(parent).map_err(Error::at(parent))?;
        let packed = archive::pack(folder, files, new.path(), goes_on)?;
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
    use super::*;

    #[test]
    fn a_cache_is_restored_for_its_project_and_key() {
        let folder = tempfile::tempdir().expect("a folder");
        let (caches, project) =
            (Caches::new(folder.path().join("cache")), folder.path().join("project"));
        fs::create_dir_all(&project).expect("made");
        fs::write(project.join("a"), "1").expect("written");
        let files = BTreeSet::from([PathBuf::from("a")]);
        assert_eq!(caches.restore(1, "key/../x", &project).expect("none"), None);
        assert_eq!(caches.store(1, "key/../x", &project, &files, &|| true).expect("stored"), 1);
        fs::write(project.join("a"), "2").expect("written");
        let one = Unpacked { files: 1, left_out: 0 };
        assert_eq!(caches.restore(1, "key/../x", &project).expect("restored"), Some(one));
        assert_eq!(fs::read_to_string(project.join("a")).expect("there"), "1");
        assert_eq!(caches.restore(2, "key/../x", &project).expect("none"), None);
        assert_eq!(caches.restore(1, "other", &project).expect("none"), None);
    }
}
