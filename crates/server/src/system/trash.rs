//! The trash: removed files and directories disappear at once, and are deleted in the background.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};

use hexforge_domain::ports::files::is_storage_full;

use super::backup_lock::is_held;
use super::random_name;

/// The trash directory of a data folder. Entries that are left when the program ends are deleted at the next start.
///
/// While a backup holds the [lock](crate::system::BackupLock) nothing is deleted: the backup contains the files of an
/// earlier moment.
pub struct Trash {
    data_dir: PathBuf,
    remover: Sender<PathBuf>,
}

impl Trash {
    /// Opens the trash of a data folder, and starts the thread that deletes its entries.
    pub fn new(data_dir: &Path) -> Self {
        let (remover, doomed) = channel::<PathBuf>();
        let data = data_dir.to_owned();
        // The thread ends when the last sender is dropped.
        std::thread::spawn(move || {
            doomed.iter().filter(|_| !is_held(&data)).for_each(|place| remove(&place));
        });
        Self { data_dir: data_dir.to_owned(), remover }
    }

    /// Moves a directory or file into the trash, which must be on the same file system. A missing
    /// one counts as removed.
    pub fn take(&self, doomed: &Path) -> io::Result<()> {
        if !doomed.exists() {
            return Ok(());
        }
        match self.put_aside(doomed) {
            // On a full disk the trash directory may be impossible to create, and deleting frees space.
            Err(error) if is_storage_full(&error) && !is_held(&self.data_dir) => {
                fs::remove_dir_all(doomed)
            }
            outcome => outcome,
        }
    }

    fn put_aside(&self, doomed: &Path) -> io::Result<()> {
        super::make_folders(&self.folder())?;
        let place = self.folder().join(self.name_of(doomed));
        match fs::rename(doomed, &place) {
            // Another thread or process removed it first.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            outcome => outcome?,
        }
        // If the thread has ended, the next start deletes the entry.
        let _ = self.remover.send(place);
        Ok(())
    }

    /// Deletes a file. While a backup holds the lock, the file is moved into the trash instead.
    pub fn remove_file(&self, doomed: &Path) -> io::Result<()> {
        if is_held(&self.data_dir) {
            return self.take(doomed);
        }
        match fs::remove_file(doomed) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Deletes the entries that an earlier run left.
    pub fn empty(&self) -> io::Result<()> {
        if is_held(&self.data_dir) {
            return Ok(());
        }
        for (place, _) in contents(&self.data_dir)? {
            remove(&place);
        }
        Ok(())
    }

    fn folder(&self) -> PathBuf {
        folder(&self.data_dir)
    }

    /// A unique name that contains the original path.
    fn name_of(&self, doomed: &Path) -> String {
        let was = doomed.strip_prefix(&self.data_dir).unwrap_or(Path::new(""));
        let parts = was.iter().map(OsStr::to_string_lossy).collect::<Vec<_>>();
        format!("{}{BETWEEN}{}", parts.join(BETWEEN), random_name())
    }
}

/// The separator between the components of the original path. No path in the trash contains it.
const BETWEEN: &str = "+";

fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join("trash")
}

/// Lists the entries in the trash of a data folder, each with its original path relative to the data folder.
pub fn contents(data_dir: &Path) -> io::Result<Vec<(PathBuf, PathBuf)>> {
    let entries = match fs::read_dir(folder(data_dir)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        entries => entries?,
    };
    let was = |place: &Path| {
        let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (parts, _) = name.rsplit_once(BETWEEN).unwrap_or_default();
        parts.split(BETWEEN).collect::<PathBuf>()
    };
    entries
        .map(|entry| {
            let place = entry?.path();
            let was = was(&place);
            Ok((place, was))
        })
        .collect()
}

fn remove(place: &Path) {
    let removed = match place.is_dir() {
        true => fs::remove_dir_all(place),
        false => fs::remove_file(place),
    };
    match removed {
        // Another process may have deleted the entry.
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(place = %place.display(), %error, "the trash cannot be emptied");
        }
        Ok(()) | Err(_) => (),
    }
}
