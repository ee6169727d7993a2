//! Iterates over the entries of trees.

use gix::ObjectId;
use gix::object::Kind;
use gix::objs::tree::{EntryKind, EntryMode};
use gix::objs::{Find, TreeRefIter};
use hexforge_domain::ports::git::GitError;

use crate::error::failed;

/// An entry of a tree. Submodules are left out: their commits are in other repositories.
#[derive(Clone, Copy)]
pub(crate) enum Entry {
    Tree(ObjectId),
    Blob(ObjectId),
}

/// Whether an entry is a submodule: its id names a commit of another repository. Like git, this takes every mode of an
/// unknown type for one. `EntryMode::is_commit` does not, so an object that no push has checked would be sent.
pub(crate) fn is_submodule(mode: EntryMode) -> bool {
    mode.kind() == EntryKind::Commit
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
        match entry.mode.kind() {
            EntryKind::Tree => each(Entry::Tree(entry.oid.to_owned()))?,
            EntryKind::Blob | EntryKind::BlobExecutable | EntryKind::Link => {
                each(Entry::Blob(entry.oid.to_owned()))?;
            }
            EntryKind::Commit => (),
        }
    }
    Ok(())
}
