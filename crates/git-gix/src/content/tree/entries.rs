//! Iterates over the entries of trees.

use gix::ObjectId;
use gix::object::Kind;
use gix::objs::{Find, TreeRefIter};
use hexforge_domain::ports::git::GitError;

use crate::error::failed;

/// An entry of a tree. Submodules are left out: their commits are in other repositories.
#[derive(Clone, Copy)]
pub(crate) enum Entry {
    Tree(ObjectId),
    Blob(ObjectId),
}

/// The id of a commit's root tree.
pub(crate) fn tree_of(repo: &gix::Repository, commit: ObjectId) -> Result<ObjectId, GitError> {
    let commit = repo.find_commit(commit).map_err(failed)?;
    Ok(commit.tree_id().map_err(failed)?.detach())
}

/// Calls `each` for every entry of a tree except submodules.
pub(crate) fn entries(
    repo: &gix::Repository,
    tree: ObjectId,
    buffer: &mut Vec<u8>,
    each: impl FnMut(Entry) -> Result<(), GitError>,
) -> Result<(), GitError> {
    let found = repo.objects.try_find(&tree, buffer).map_err(failed)?;
    let data = found
        .filter(|object| object.kind == Kind::Tree)
        .ok_or_else(|| GitError::Corrupt(format!("the tree {tree} is missing")))?
        .data;
    entries_in(tree, data, each)
}

/// Like [`entries`], for the data of a tree that is in memory.
pub(crate) fn entries_in(
    tree: ObjectId,
    data: &[u8],
    mut each: impl FnMut(Entry) -> Result<(), GitError>,
) -> Result<(), GitError> {
    for entry in TreeRefIter::from_bytes(data, gix::hash::Kind::Sha1) {
        let entry =
            entry.map_err(|_| GitError::Corrupt(format!("the tree {tree} is malformed")))?;
        if entry.mode.is_tree() {
            each(Entry::Tree(entry.oid.to_owned()))?;
        } else if !entry.mode.is_commit() {
            each(Entry::Blob(entry.oid.to_owned()))?;
        }
    }
    Ok(())
}
