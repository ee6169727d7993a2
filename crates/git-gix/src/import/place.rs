//! From a scratch folder to the place of a project.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::imports::ImportError;
use tempfile::TempDir;

use super::listing::Listing;
use super::{disk, failed};
use crate::refs::update::Turn;
use crate::store::{Shared, open_folder, sync_folder};

/// Whether nothing was put into a project yet.
pub(crate) fn check_empty(store: &Shared, project: ProjectId) -> Result<(), ImportError> {
    let folder = store.layout.repository(project);
    if folder.join("HEAD").exists() && has_refs(&folder).map_err(|error| failed(&error))? {
        return Err(taken());
    }
    Ok(())
}

/// Writes branches, tags and HEAD into a repository that nobody uses yet.
pub(crate) fn write_refs(listing: &Listing, repository: &Path) -> Result<(), ImportError> {
    let mut lines = b"# pack-refs with: sorted \n".to_vec();
    for (name, id) in &listing.refs {
        lines.extend_from_slice(format!("{id} ").as_bytes());
        lines.extend_from_slice(name);
        lines.push(b'\n');
    }
    write_synced(&repository.join("packed-refs"), &lines)?;
    if let Some(head) = listing.head() {
        write_synced(&repository.join("HEAD"), format!("ref: {head}\n").as_bytes())?;
    }
    sync_folder(repository).map_err(|error| failed(&error))
}

/// Gives a project its repository, in one step, if it is still empty.
pub(crate) fn put(store: &Shared, made: TempDir, project: ProjectId) -> Result<(), ImportError> {
    let folder = store.layout.repository(project);
    let parent = folder.parent().ok_or_else(|| ImportError::Failed("no folder".into()))?;
    fs::create_dir_all(parent).map_err(disk)?;
    match fs::rename(made.path(), &folder) {
        Ok(()) => {
            // It is no longer where it would be removed.
            let _ = made.keep();
            sync_folder(parent).map_err(|error| failed(&error))
        }
        // Somebody began to put something there, and perhaps failed.
        Err(_) if folder.join("HEAD").exists() => fill(made.path(), &folder),
        Err(error) => Err(disk(error)),
    }
}

/// Moves everything into a repository that is there and has no refs. All of them appear at once, with the
/// last rename, and nobody of ours changes others meanwhile.
fn fill(made: &Path, folder: &Path) -> Result<(), ImportError> {
    let broken = |error: GitError| failed(&error);
    let _turn = Turn::take(folder).map_err(broken)?;
    if has_refs(folder).map_err(broken)? {
        return Err(taken());
    }
    let packs = folder.join("objects").join("pack");
    fs::create_dir_all(&packs).map_err(disk)?;
    for file in pack_files(&made.join("objects").join("pack"))? {
        let name = file.file_name().ok_or_else(|| ImportError::Failed("no file".into()))?;
        fs::rename(&file, packs.join(name)).map_err(disk)?;
    }
    sync_folder(&packs).map_err(broken)?;
    fs::rename(made.join("HEAD"), folder.join("HEAD")).map_err(disk)?;
    // The lock by which other gits know that the file is being written.
    let lock = folder.join("packed-refs.lock");
    File::create_new(&lock).map_err(disk)?;
    let renamed = fs::rename(made.join("packed-refs"), &lock)
        .and_then(|()| fs::rename(&lock, folder.join("packed-refs")));
    if let Err(error) = renamed {
        let _ = fs::remove_file(&lock);
        return Err(disk(error));
    }
    sync_folder(folder).map_err(broken)
}

/// The files of all packs; a pack counts once its index is there, so that comes last.
fn pack_files(folder: &Path) -> Result<Vec<PathBuf>, ImportError> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut files: Vec<PathBuf> = entries.map_err(disk)?.iter().map(fs::DirEntry::path).collect();
    files.sort_by_key(|file| file.extension().is_some_and(|extension| extension == "idx"));
    Ok(files)
}

fn has_refs(folder: &Path) -> Result<bool, GitError> {
    let repo = open_folder(folder)?.to_thread_local();
    let platform = repo.references().map_err(crate::error::failed)?;
    let mut all = platform.prefixed("refs/").map_err(crate::error::failed)?;
    Ok(all.next().is_some())
}

fn taken() -> ImportError {
    ImportError::Refused("the project is no longer empty".into())
}

fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), ImportError> {
    let mut file = File::create(path).map_err(disk)?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(disk)
}
