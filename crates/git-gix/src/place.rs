//! From a scratch folder to the place of a project.

use std::fs;
use std::path::{Path, PathBuf};

use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::git::GitError;
use tempfile::TempDir;

use crate::durable::{make_folders, sync_file, sync_folder};
use crate::error::{failed, io};
use crate::refs::update::Turn;
use crate::store::{Shared, open_folder};

/// Whether a repository found its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    Done,
    /// There is another that has refs already.
    Taken,
}

/// Whether anything was put into the repository of a project.
pub(crate) fn is_taken(store: &Shared, project: ProjectId) -> Result<bool, GitError> {
    let folder = store.layout.repository(project);
    Ok(folder.join("HEAD").exists() && has_refs(&folder)?)
}

/// Gives a project its repository, in one step, if it is still empty.
pub(crate) fn put(store: &Shared, made: TempDir, project: ProjectId) -> Result<Placed, GitError> {
    match put_first(store, made, project)? {
        None => Ok(Placed::Done),
        // Somebody began to put something there, and perhaps failed.
        Some(made) => fill(made.path(), &store.layout.repository(project)),
    }
}

/// Gives a project its repository, unless it has one: then the new one is given back.
pub(crate) fn put_first(
    store: &Shared,
    made: TempDir,
    project: ProjectId,
) -> Result<Option<TempDir>, GitError> {
    let folder = store.layout.repository(project);
    let parent = folder.parent().ok_or_else(|| GitError::Failed("no folder".into()))?;
    make_folders(parent)?;
    sync_new(made.path())?;
    match fs::rename(made.path(), &folder) {
        Ok(()) => {
            // It is no longer where it would be removed.
            let _ = made.keep();
            sync_folder(parent).map(|()| None)
        }
        Err(_) if folder.join("HEAD").exists() => Ok(Some(made)),
        Err(error) => Err(io(error)),
    }
}

/// Puts on disk what every repository has; packs are there already.
fn sync_new(repository: &Path) -> Result<(), GitError> {
    for file in ["config", "HEAD", "packed-refs"] {
        sync_file(&repository.join(file))?;
    }
    for folder in ["objects/pack", "objects", "refs/heads", "refs/tags", "refs", "."] {
        sync_folder(&repository.join(folder))?;
    }
    Ok(())
}

/// Moves everything into a repository that is there and has no refs. All of them appear at once, with the
/// last rename, and nobody of ours changes others meanwhile.
fn fill(made: &Path, folder: &Path) -> Result<Placed, GitError> {
    let _turn = Turn::take(folder)?;
    if has_refs(folder)? {
        return Ok(Placed::Taken);
    }
    for part in object_folders(&made.join("objects"))? {
        let name = part.file_name().ok_or_else(|| GitError::Failed("no folder".into()))?;
        let to = folder.join("objects").join(name);
        make_folders(&to)?;
        for file in files(&part)? {
            let name = file.file_name().ok_or_else(|| GitError::Failed("no file".into()))?;
            fs::rename(&file, to.join(name)).map_err(io)?;
        }
        sync_folder(&to)?;
    }
    fs::rename(made.join("HEAD"), folder.join("HEAD")).map_err(io)?;
    // Without refs nobody else is at work here, so nobody's lock is passed over.
    fs::rename(made.join("packed-refs"), folder.join("packed-refs")).map_err(io)?;
    sync_folder(folder)?;
    Ok(Placed::Done)
}

/// The folders of packs and of single objects.
fn object_folders(objects: &Path) -> Result<Vec<PathBuf>, GitError> {
    let is_part = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| name == "pack" || name.len() == 2)
    };
    Ok(files(objects)?.into_iter().filter(is_part).collect())
}

/// What is in a folder; a pack counts once its index is there, so that comes last.
fn files(folder: &Path) -> Result<Vec<PathBuf>, GitError> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut files: Vec<PathBuf> = entries.map_err(io)?.iter().map(fs::DirEntry::path).collect();
    files.sort_by_key(|file| file.extension().is_some_and(|extension| extension == "idx"));
    Ok(files)
}

fn has_refs(folder: &Path) -> Result<bool, GitError> {
    let repo = open_folder(folder)?.to_thread_local();
    let platform = repo.references().map_err(failed)?;
    let mut all = platform.prefixed("refs/").map_err(failed)?;
    Ok(all.next().is_some())
}
