//! Folders that are to go: out of sight at once, removed in the background.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};

use hexforge_domain::ports::files::is_no_room;

use super::random_name;

/// A folder for folders that are to go. What it holds when the program ends goes at the next start.
pub struct Trash {
    folder: PathBuf,
    remover: Sender<PathBuf>,
}

impl Trash {
    /// The trash in a data folder, with its remover.
    pub fn new(data_dir: &Path) -> Self {
        let (remover, doomed) = channel::<PathBuf>();
        // It ends with the last sender.
        std::thread::spawn(move || doomed.iter().for_each(|folder| remove(&folder)));
        Self { folder: data_dir.join("trash"), remover }
    }

    /// Takes a folder, which has to be on the same file system. One that is not there is gone already.
    pub fn take(&self, doomed: &Path) -> io::Result<()> {
        if !doomed.exists() {
            return Ok(());
        }
        match self.put_aside(doomed) {
            // On a full disk there may be no room for the trash either, and what goes makes some.
            Err(error) if is_no_room(&error) => fs::remove_dir_all(doomed),
            outcome => outcome,
        }
    }

    fn put_aside(&self, doomed: &Path) -> io::Result<()> {
        super::make_folders(&self.folder)?;
        let place = self.folder.join(random_name());
        match fs::rename(doomed, &place) {
            // Somebody else was faster.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            outcome => outcome?,
        }
        // If the remover should be gone, the next start removes it.
        let _ = self.remover.send(place);
        Ok(())
    }

    /// Removes what an earlier run left.
    pub fn empty(&self) -> io::Result<()> {
        match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            entries => {
                for entry in entries? {
                    remove(&entry?.path());
                }
                Ok(())
            }
        }
    }
}

fn remove(folder: &Path) {
    match fs::remove_dir_all(folder) {
        // Another process may empty the same trash.
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(folder = %folder.display(), %error, "the trash cannot be emptied");
        }
        Ok(()) | Err(_) => (),
    }
}
