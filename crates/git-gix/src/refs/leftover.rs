//! Locks on refs that were left behind by a process which is gone.
//!
//! Git locks a ref by a file beside it, and so does gix. A process that is killed while it holds one leaves
//! the file, and without this nobody could ever change that ref again.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use hexforge_domain::ports::git::{GitError, RefChange};

use super::update::Turn;
use crate::error::io;

/// Other programs hold such a lock for a shorter time.
const MOMENT: Duration = Duration::from_secs(1);

/// Removes the locks that whoever noted these changes held when it ended.
pub(crate) fn free(git_dir: &Path, changes: &[RefChange]) -> Result<(), GitError> {
    // While we have this nobody of ours holds any of them.
    let _turn = Turn::take(git_dir)?;
    for change in changes {
        free_one(git_dir.join(format!("{}.lock", change.name)))?;
    }
    free_one(git_dir.join("packed-refs.lock"))
}

fn free_one(lock: PathBuf) -> Result<(), GitError> {
    if let Some(young) = rest_of_moment(&lock)? {
        // It may be one of another program, which then goes away by itself or is another one after this.
        thread::sleep(young);
        if rest_of_moment(&lock)?.is_some_and(|rest| !rest.is_zero()) {
            return Ok(());
        }
        match fs::remove_file(&lock) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(io(error)),
            _ => tracing::warn!(lock = %lock.display(), "a lock was left behind and is removed"),
        }
    }
    Ok(())
}

/// How long it is until a lock is old; `None` when there is none.
fn rest_of_moment(lock: &Path) -> Result<Option<Duration>, GitError> {
    match fs::metadata(lock).and_then(|metadata| metadata.modified()) {
        // A time that is yet to come is wrong.
        Ok(made) => {
            Ok(Some(made.elapsed().map_or(Duration::ZERO, |age| MOMENT.saturating_sub(age))))
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(io(error)),
    }
}
