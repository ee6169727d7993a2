//! From a scratch folder to the place of a project.

use std::fs;
use std::path::Path;

use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::git::GitError;
use tempfile::TempDir;

use crate::durable::{make_folders, sync_file, sync_folder};
use crate::error::io;
use crate::store::Shared;

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
    for file in ["config", "HEAD"] {
        sync_file(&repository.join(file))?;
    }
    for folder in ["objects/pack", "objects", "refs/heads", "refs/tags", "refs", "."] {
        sync_folder(&repository.join(folder))?;
    }
    Ok(())
}
