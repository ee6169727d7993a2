//! Slots: each running build has the working copies of one slot for itself, also when several processes share a folder.

use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::error::Error;

/// The largest number of a slot.
const LAST: usize = 10_000;

/// A slot, free again when it is dropped.
#[derive(Debug)]
pub struct Slot {
    /// The folder of its working copies.
    pub folder: PathBuf,
    /// The file that supervisors lock, because they may outlive a killed runner for a moment.
    pub busy: PathBuf,
    _lock: File,
}

impl Slot {
    /// The folder of the working copies of a project. A project at the path of a removed one gets nothing of it.
    pub fn project(&self, id: i64) -> PathBuf {
        self.folder.join(id.to_string())
    }
}

/// Takes the free slot with the lowest number, so that working copies are used again.
/// # Errors
/// The folder cannot be written.
pub fn take(folder: &Path) -> Result<Slot, Error> {
    std::fs::create_dir_all(folder).map_err(Error::at(folder))?;
    for number in 0..LAST {
        let busy = folder.join(format!(".{number}.busy"));
        let Some(lock) = lock(&folder.join(format!(".{number}.lock")))? else { continue };
        // Without processes of an earlier build, this lock is free and given back at once.
        if self::lock(&busy)?.is_some() {
            return Ok(Slot { folder: folder.join(number.to_string()), busy, _lock: lock });
        }
    }
    Err(Error::step("all slots for builds are in use"))
}

/// Locks a file, unless another process has locked it.
fn lock(path: &Path) -> Result<Option<File>, Error> {
    let mut open = File::options();
    let file = open.create(true).truncate(false).write(true).read(true).open(path);
    let file = file.map_err(Error::at(path))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(Error::at(path)(error.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_used_by_one_build_at_a_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let take = || take(folder.path()).expect("it can be written");
        let (first, second) = (take(), take());
        assert_ne!(first.folder, second.folder);
        let again = first.folder.clone();
        drop(first);
        assert_eq!(take().folder, again);
        // As long as a supervisor runs, the slot is not free.
        let busy = lock(&second.busy).expect("it can be opened").expect("it is free");
        let taken = second.folder.clone();
        drop(second);
        let (first, third) = (take(), take());
        assert!(first.folder == again && third.folder != taken);
        drop(busy);
        assert_eq!(take().folder, taken);
    }
}
