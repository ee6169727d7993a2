//! What a commit did to files.

use gix::object::tree::diff::ChangeDetached as Change;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::push::{ChangedPaths, TOLD_PATHS};

use crate::error::failed;
use crate::text;

/// The files that a commit added, changed and removed, against its first parent.
pub(crate) fn changed_paths(
    repo: &gix::Repository,
    commit: gix::ObjectId,
) -> Result<ChangedPaths, GitError> {
    let commit = repo.find_commit(commit).map_err(failed)?;
    let after = commit.tree().map_err(failed)?;
    let before = match commit.parent_ids().next() {
        Some(parent) => {
            let parent = repo.find_commit(parent).and_then(|parent| parent.tree());
            Some(parent.map_err(failed)?)
        }
        None => None,
    };
    let changes = repo.diff_tree_to_tree(before.as_ref(), Some(&after), None).map_err(failed)?;
    let mut paths = ChangedPaths::default();
    for change in changes {
        let (list, path, mode) = match &change {
            Change::Addition { location, entry_mode, .. } => {
                (&mut paths.added, location, entry_mode)
            }
            Change::Deletion { location, entry_mode, .. } => {
                (&mut paths.removed, location, entry_mode)
            }
            Change::Modification { location, entry_mode, .. } => {
                (&mut paths.modified, location, entry_mode)
            }
            // A moved file counts as a new one at its new place.
            Change::Rewrite { location, entry_mode, .. } => {
                (&mut paths.added, location, entry_mode)
            }
        };
        // Folders change with what is in them.
        if !mode.is_tree() && list.len() < TOLD_PATHS {
            list.push(text::path(path));
        }
    }
    Ok(paths)
}
