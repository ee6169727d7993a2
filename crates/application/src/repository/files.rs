//! Reads single files of a revision.

use hexforge_domain::commit::ObjectId;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::PathEntry;

use super::commits::too_large;
use super::{Content, FoundFile, Revision};
use crate::error::{Entity, Error};

/// A file of a revision.
pub struct FileView {
    /// The path as it was requested, without leading slashes.
    pub path: String,
    /// The revision as it was requested.
    pub revision: String,
    /// The id of the blob; for a submodule the commit of the other repository.
    pub id: ObjectId,
    /// The commit of the revision.
    pub commit: ObjectId,
    /// The last commit up to the revision that changed the file.
    pub last_commit: Option<ObjectId>,
    /// The content; `None` for a submodule.
    pub content: Option<Content>,
}

/// Returns the file, symbolic link or submodule at a path.
pub fn get(at: Revision, path: &str) -> Result<FileView, Error> {
    let Revision { repository, name, commit } = at;
    let missing = || Error::NotFound(Entity::File);
    let asked = path.trim_start_matches('/');
    if asked.ends_with('/') {
        return Err(missing());
    }
    let parts: Vec<&str> = asked.split('/').filter(|part| !part.is_empty()).collect();
    let literal = parts.join("/");
    let (id, is_file) = match repository.path_entry(commit, &literal)? {
        PathEntry::File { id, .. } => (id, true),
        PathEntry::Submodule(id) => (id, false),
        PathEntry::Missing | PathEntry::BehindFile | PathEntry::Folder => return Err(missing()),
    };
    let last_commit = repository.last_commit(commit, &literal).map_err(too_large)?;
    let content = if is_file {
        let blob = repository.blob_at(commit, &literal)?.ok_or(GitError::Missing)?;
        Some(FoundFile { blob, repository }.content()?)
    } else {
        None
    };
    let path = asked.to_owned();
    Ok(FileView { path, revision: name, id, commit, last_commit, content })
}
