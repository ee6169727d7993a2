//! Folders that are to go: out of sight at once, removed in the background.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};

use hexforge_domain::ports::files::is_no_room;

use super::hold::is_held;
use super::random_name;

/// A folder for folders that are to go. What it holds when the program ends goes at the next start.
///
/// While somebody copies the whole data folder nothing is removed: the copy is of a moment at which it was wanted.
pub struct Trash {
    data_dir: PathBuf,
    remover: Sender<PathBuf>,
}

impl Trash {
    /// The trash in a data folder, with its remover.
    pub fn new(data_dir: &Path) -> Self {
        let (remover, doomed) = channel::<PathBuf>();
        let data = data_dir.to_owned();
        // It ends with the last sender.
        std::thread::spawn(move || {
            doomed.iter().filter(|_| !is_held(&data)).for_each(|place| remove(&place));
        });
        Self { data_dir: data_dir.to_owned(), remover }
    }

    /// Takes a folder or a file, which has to be on the same file system. One that is not there is gone already.
    pub fn take(&self, doomed: &Path) -> io::Result<()> {
        if !doomed.exists() {
            return Ok(());
        }
        match self.put_aside(doomed) {
            // On a full disk there may be no room for the trash either, and what goes makes some.
            Err(error) if is_no_room(&error) && !is_held(&self.data_dir) => {
                fs::remove_dir_all(doomed)
            }
            outcome => outcome,
        }
    }

    fn put_aside(&self, doomed: &Path) -> io::Result<()> {
        super::make_folders(&self.folder())?;
        let place = self.folder().join(self.name_of(doomed));
        match fs::rename(doomed, &place) {
            // Somebody else was faster.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            outcome => outcome?,
        }
        // If the remover should be gone, the next start removes it.
        let _ = self.remover.send(place);
        Ok(())
    }

    /// Removes a file, unless somebody copies everything: then it goes later.
    pub fn remove_file(&self, doomed: &Path) -> io::Result<()> {
        if is_held(&self.data_dir) {
            return self.take(doomed);
        }
        match fs::remove_file(doomed) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Removes what an earlier run left.
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

    /// A name that tells where it was.
    fn name_of(&self, doomed: &Path) -> String {
        let was = doomed.strip_prefix(&self.data_dir).unwrap_or(Path::new(""));
        let parts = was.iter().map(OsStr::to_string_lossy).collect::<Vec<_>>();
        format!("{}{BETWEEN}{}", parts.join(BETWEEN), random_name())
    }
}

/// What stands between the parts of a name. No path that is thrown away has it.
const BETWEEN: &str = "+";

fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join("trash")
}

/// What is in the trash of a data folder, and where in there each was.
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
        // Another process may empty the same trash.
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(place = %place.display(), %error, "the trash cannot be emptied");
        }
        Ok(()) | Err(_) => (),
    }
}
