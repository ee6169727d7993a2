//! Keeping what a copy of all repositories needs until it is made.
//!
//! A copy takes its time, and others go on meanwhile. As long as somebody holds on, in this process or another,
//! notes of changes are kept when they are settled, so that the copy can be brought back to the one moment of which its
//! database is; and what is thrown away is not removed. A lock tells a holder from what one left behind that is gone.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::git::RefChange;

use crate::journal;
use crate::layout::Layout;

/// Holds on as long as it lives.
pub struct Hold {
    layout: Layout,
    _lock: File,
}

/// A change of a repository that was noted.
#[derive(Clone, Debug)]
pub struct Noted {
    /// The key of the change. Those of one project are in the order in which they were made.
    pub key: String,
    /// Of which project.
    pub project: ProjectId,
    /// What was to be changed.
    pub changes: Vec<RefChange>,
    /// The note itself.
    pub content: Vec<u8>,
}

/// Whether anybody holds on to what is in a data folder. It costs next to nothing.
pub fn is_held(data: &Path) -> bool {
    Layout::new(data).held().exists()
}

impl Hold {
    /// Holds on to what is in a data folder. `None` when somebody else does.
    pub fn take(data: &Path) -> io::Result<Option<Self>> {
        let layout = Layout::new(data);
        fs::create_dir_all(layout.held())?;
        let lock = File::create(layout.holder())?;
        match lock.try_lock() {
            Ok(()) => (),
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // What a holder kept that is gone.
        for note in files(&layout.held())? {
            fs::remove_file(note)?;
        }
        Ok(Some(Self { layout, _lock: lock }))
    }

    /// The keys of the changes that are not settled now.
    pub fn unsettled(&self) -> io::Result<BTreeSet<String>> {
        let notes = files(&self.layout.journal())?;
        let names = notes.iter().filter_map(|note| note.file_name()?.to_str());
        let names = names.filter(|name| journal::project_of(name).is_some());
        Ok(names.map(str::to_owned).collect())
    }

    /// The changes that are not settled, and those that were since this began; oldest first for each project.
    pub fn notes(&self) -> io::Result<Vec<Noted>> {
        let mut notes = Vec::new();
        let mut known = BTreeSet::new();
        // In this order, since they go from the one to the other.
        for folder in [self.layout.journal(), self.layout.held()] {
            for file in files(&folder)? {
                let key = file.file_name().and_then(OsStr::to_str);
                let key = key.filter(|name| journal::project_of(name).is_some());
                let Some(key) = key else { continue };
                let content = match fs::read(&file) {
                    Err(error) if error.kind() == ErrorKind::NotFound => continue,
                    content => content?,
                };
                // What is not whole was recorded before this began, or nothing followed it.
                let Some(note) = journal::parse(key, &content) else { continue };
                if known.insert(key.to_owned()) {
                    let (project, changes) = (note.project, note.changes);
                    notes.push(Noted { key: key.to_owned(), project, changes, content });
                }
            }
        }
        notes.sort_by(|a, b| (a.project, &a.key).cmp(&(b.project, &b.key)));
        Ok(notes)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // What stays is removed by the next one, or with what others left behind.
        let _ = remove(&self.layout);
    }
}

/// Removes what a holder left behind that is gone.
pub(crate) fn tidy(layout: &Layout) -> io::Result<()> {
    let lock = match File::open(layout.holder()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        lock => lock?,
    };
    match lock.try_lock() {
        Ok(()) => remove(layout),
        Err(_) => Ok(()),
    }
}

/// First that by which others know of it.
fn remove(layout: &Layout) -> io::Result<()> {
    fs::remove_dir_all(layout.held())?;
    fs::remove_file(layout.holder())
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(vec![]),
        entries => entries?.map(|entry| entry.map(|entry| entry.path())).collect(),
    }
}
