//! Writing refs, so that they are on disk and no other program's change is lost.
//!
//! Each ref is a file of its own, or a line in the file of packed refs; the file counts. Git has a library
//! for this too, which leaves it to the system when things come to disk.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hexforge_domain::ports::git::{GitError, RefChange};

use super::lock::Lock;
use super::packed::{self, Edits};
use super::update::current;
use crate::commit::to_gix;
use crate::durable::sync_folder;
use crate::error::io;

/// Makes changes that were checked. Whoever calls is the only one of ours who writes there. What fails may have
/// been made in part.
/// # Errors
/// [`GitError::Conflict`] when another program changed a ref since it was checked.
pub(super) fn write(repo: &gix::Repository, changes: &[RefChange]) -> Result<(), GitError> {
    match changes {
        [] => Ok(()),
        [change] if change.new.is_some() => put(repo, change),
        changes => pack(repo, changes),
    }
}

/// Ends what a process that is gone began: once the file of packed refs says so, all changes count, and only the
/// files of single refs are still in the way.
pub(crate) fn complete(repo: &gix::Repository, changes: &[RefChange]) -> Result<(), GitError> {
    let packed = packed::targets(repo.git_dir(), changes.iter().map(|change| &*change.name))?;
    let new = |change: &RefChange| change.new.map(to_gix) == packed.get(&*change.name).copied();
    let begun = changes.iter().any(|change| change.new.is_some()) && changes.iter().all(new);
    if changes.len() < 2 || !begun {
        return Ok(());
    }
    let mut left = Vec::new();
    for change in changes {
        // Whoever changed it since knows better.
        if current(repo, &change.name)? == change.old && change.old != change.new {
            left.push(change);
        }
    }
    let locks = lock_loose(repo, &left)?;
    remove_loose(repo.git_dir(), &left, locks)
}

fn put(repo: &gix::Repository, change: &RefChange) -> Result<(), GitError> {
    let Some(new) = change.new else { return Ok(()) };
    let file = repo.git_dir().join(&change.name);
    let folder = file.parent().ok_or_else(|| GitError::Failed("no folder".into()))?;
    let lock = Lock::take_in_new_folder(&file, folder)?;
    check(repo, change)?;
    remove_empty_folders(&file)?;
    lock.replace(&file, format!("{new}\n").as_bytes())?;
    sync_nearest_used(repo.git_dir(), folder)
}

/// Writes all into the file of packed refs, whose replacement changes all of them at once.
fn pack(repo: &gix::Repository, changes: &[RefChange]) -> Result<(), GitError> {
    let changes: Vec<&RefChange> = changes.iter().collect();
    let locks = lock_loose(repo, &changes)?;
    for change in &changes {
        check(repo, change)?;
    }
    // First where the old value of what goes would show up again.
    let edits: Edits<'_> =
        changes.iter().map(|change| (change.name.as_bytes(), change.new.map(to_gix))).collect();
    let _packed = packed::rewrite(repo, &edits)?;
    remove_loose(repo.git_dir(), &changes, locks)
}

/// Locks those refs that have a file of their own.
fn lock_loose(repo: &gix::Repository, changes: &[&RefChange]) -> Result<Vec<Lock>, GitError> {
    let files = changes.iter().map(|change| repo.git_dir().join(&change.name));
    files
        .filter(|file| file.is_file())
        .filter_map(|file| Lock::take_of_existing(&file).transpose())
        .collect()
}

fn check(repo: &gix::Repository, change: &RefChange) -> Result<(), GitError> {
    if current(repo, &change.name)? == change.old {
        return Ok(());
    }
    Err(GitError::Conflict(change.name.clone()))
}

/// Removes files of refs, and the folders that are empty then.
fn remove_loose(git_dir: &Path, changes: &[&RefChange], locks: Vec<Lock>) -> Result<(), GitError> {
    let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
    for change in changes {
        let file = git_dir.join(&change.name);
        match fs::remove_file(&file) {
            Ok(()) => folders.extend(file.parent().map(Path::to_owned)),
            Err(error) if is_absent(error.kind()) => (),
            Err(error) => return Err(io(error)),
        }
    }
    drop(locks);
    for folder in folders {
        sync_nearest_used(git_dir, &folder)?;
    }
    Ok(())
}

/// Syncs a folder, or the first above it that stays when it is empty. Another program that packs refs removes empty
/// folders too, after it has synced the file of packed refs.
fn sync_nearest_used(git_dir: &Path, folder: &Path) -> Result<(), GitError> {
    let used = nearest_used(git_dir, folder);
    match sync_folder(used) {
        Err(_) if !used.exists() => sync_nearest_used(git_dir, used.parent().unwrap_or(git_dir)),
        synced => synced,
    }
}

/// Removes a folder if it is empty, and so on upwards; answers the first that stays.
fn nearest_used<'a>(git_dir: &Path, folder: &'a Path) -> &'a Path {
    // Those of all branches and of all tags stay.
    let least = git_dir.components().count() + 2;
    let mut at = folder;
    while at.components().count() > least && (fs::remove_dir(at).is_ok() || !at.exists()) {
        let Some(above) = at.parent() else { break };
        at = above;
    }
    at
}

/// Where folders were that refs were in, a ref can be.
fn remove_empty_folders(path: &Path) -> Result<(), GitError> {
    if !path.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(path).map_err(io)? {
        remove_empty_folders(&entry.map_err(io)?.path())?;
    }
    fs::remove_dir(path).map_err(io)
}

fn is_absent(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::IsADirectory)
}
