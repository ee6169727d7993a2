//! Slots: each running build has the working copies of one slot for itself, also when several processes share a folder.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;

use crate::error::Error;
use crate::remove::remove_contents;
use crate::user::{self, User};

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

    /// Removes all working copies of the slot, with the rights of their owner: a build of the same user in another slot
    /// could replace a folder by a link meanwhile.
    /// # Errors
    /// A folder cannot be removed.
    pub fn clear(&self) -> Result<(), Error> {
        let folder = &self.folder;
        let metadata = match std::fs::symlink_metadata(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            found => found.map_err(Error::at(folder))?,
        };
        let owner = User::owner_of(&metadata);
        let other = (owner.id != geteuid().as_raw()).then_some(&owner);
        user::run_as(other, || remove_contents(folder).map_err(Error::at(folder)))?;
        std::fs::remove_dir(folder).map_err(Error::at(folder))
    }
}

/// Takes the free slot with the lowest number, so that working copies are used again.
/// # Errors
/// The folder cannot be written.
pub fn take(folder: &Path) -> Result<Slot, Error> {
    std::fs::create_dir_all(folder).map_err(Error::at(folder))?;
    for number in 0..LAST {
        if let Some(slot) = try_take(folder, number)? {
            return Ok(slot);
        }
    }
    Err(Error::step("all slots for builds are in use"))
}

/// Takes all slots that exist and are free.
/// # Errors
/// The folder cannot be written.
pub fn take_idle(folder: &Path) -> Result<Vec<Slot>, Error> {
    let exists = |number: &usize| lock_file(folder, *number).exists();
    let slots = (0..LAST).take_while(exists).map(|number| try_take(folder, number));
    slots.filter_map(Result::transpose).collect()
}

/// Takes a slot unless it is in use.
fn try_take(folder: &Path, number: usize) -> Result<Option<Slot>, Error> {
    let Some(_lock) = lock(&lock_file(folder, number))? else { return Ok(None) };
    let busy = folder.join(format!(".{number}.busy"));
    // Without processes of an earlier build, this lock is free and given back at once.
    let is_free = lock(&busy)?.is_some();
    Ok(is_free.then(|| Slot { folder: folder.join(number.to_string()), busy, _lock }))
}

fn lock_file(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!(".{number}.lock"))
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
        assert_eq!(
            take_idle(folder.path()).expect("it can be read").len(),
            1,
            "the others are in use"
        );
        assert_eq!(take().folder, taken);
    }
}
