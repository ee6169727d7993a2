//! A pool of scratch folders for staged repositories. They are reused because creating folders and files takes a large
//! part of the time of a small push.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use hexforge_domain::ports::git::GitError;
use tempfile::TempDir;

use crate::error::io_failed;
use crate::storage::store::init_with;

/// The maximum number of idle folders in the pool.
const MOST_IDLE: usize = 16;

/// The git file that lists further object folders.
pub(crate) const ALTERNATES: &str = "objects/info/alternates";

/// Idle scratch folders. Each contains a repository without objects.
#[derive(Clone, Default)]
pub(crate) struct ScratchPool(Arc<Mutex<Vec<TempDir>>>);

impl ScratchPool {
    /// Takes a folder with an empty repository from the pool, or creates one in the empty folder that `make` returns.
    /// `alternate` is an object folder that the repository reads too.
    pub(crate) fn take(
        &self,
        alternate: Option<&Path>,
        make: impl FnOnce() -> Result<TempDir, GitError>,
    ) -> Result<ScratchFolder, GitError> {
        let idle = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        // A cleanup may have removed the folder.
        let folder = match idle.filter(|folder| folder.path().join("HEAD").exists()) {
            Some(folder) => folder,
            None => {
                let folder = make()?;
                init_with(folder.path(), &["objects/info", "objects/pack", "refs"])?;
                folder
            }
        };
        // The cleanup of leftovers removes folders by their modification time.
        let opened =
            fs::File::open(folder.path()).and_then(|opened| opened.set_modified(SystemTime::now()));
        opened.map_err(io_failed)?;
        if let Some(alternate) = alternate {
            let line = format!("{}\n", alternate.display());
            fs::write(folder.path().join(ALTERNATES), line).map_err(io_failed)?;
        }
        Ok(ScratchFolder { folder: Some(folder), pool: self.clone() })
    }
}

/// The scratch folder of a staged repository. On drop it is emptied and returned to the pool, or removed.
pub(crate) struct ScratchFolder {
    folder: Option<TempDir>,
    pool: ScratchPool,
}

impl ScratchFolder {
    pub(crate) fn path(&self) -> &Path {
        self.folder.as_ref().expect("the folder goes only when this is dropped").path()
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        let Some(folder) = self.folder.take() else { return };
        if remove_added_files(folder.path()).is_err() {
            return;
        }
        let mut idle = self.pool.0.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MOST_IDLE {
            idle.push(folder);
        }
    }
}

/// Removes all files that were added since the repository was created. Fails when a folder was added.
fn remove_added_files(folder: &Path) -> io::Result<()> {
    match fs::remove_file(folder.join(ALTERNATES)) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => (),
    }
    for entry in fs::read_dir(folder.join("objects/pack"))? {
        fs::remove_file(entry?.path())?;
    }
    let is_new = |name: &str| !["HEAD", "config", "objects", "refs"].contains(&name);
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if is_new(&entry.file_name().to_string_lossy()) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_comes_back_empty() {
        let data = tempfile::tempdir().expect("a folder for temporary files exists");
        let pool = ScratchPool::default();
        let take = |alternate: Option<&Path>| {
            let make = || tempfile::tempdir_in(data.path()).map_err(io_failed);
            pool.take(alternate, make).expect("a folder can be made")
        };
        let one = take(Some(data.path()));
        let first = one.path().to_owned();
        assert!(first.join(ALTERNATES).exists());
        fs::write(first.join("objects/pack/pack-1.idx"), "").expect("it can be written");
        fs::write(first.join("pack-new.pack"), "").expect("it can be written");
        drop(one);
        let one = take(None);
        assert_eq!(one.path(), first, "it is used again");
        assert!(!first.join(ALTERNATES).exists());
        assert!(!first.join("pack-new.pack").exists());
        assert_eq!(fs::read_dir(first.join("objects/pack")).expect("it is there").count(), 0);
        let other = take(None);
        assert_ne!(other.path(), first);
        // A scratch folder to which a folder was added is removed instead of reused.
        fs::create_dir(first.join("objects/pack/folder")).expect("it can be made");
        drop(one);
        assert!(!first.exists());
        let idle: Vec<_> = (0..2 * MOST_IDLE).map(|_| take(None)).collect();
        drop(idle);
        let left = fs::read_dir(data.path()).expect("it is there").count();
        assert_eq!(left, MOST_IDLE + 1, "with the one that is in use");
    }
}
