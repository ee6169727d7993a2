//! References from one object to others.

use gix::ObjectId;
use gix::object::Kind;
use gix::objs::{CommitRefIter, Find, TagRefIter};
use hexforge_domain::ports::git::GitError;

use crate::content::tree::entries::{self, Entry};
use crate::error::failed;

/// An object that was not read yet, with its kind if that is known.
pub(crate) type Unread = (ObjectId, Option<Kind>);

/// Calls `each` for every object to which an object refers. A walk that continues with the last of them reads the trees
/// of a commit first and then its first parent, so that similar trees are read one after the other.
pub(crate) fn each_link(
    repo: &gix::Repository,
    (id, kind): Unread,
    buffer: &mut Vec<u8>,
    each: impl FnMut(ObjectId, Option<Kind>),
) -> Result<(), GitError> {
    let kind = match kind {
        Some(kind) => kind,
        None => repo.find_header(id).map_err(failed)?.kind(),
    };
    if kind == Kind::Blob {
        return Ok(());
    }
    let found = repo.objects.try_find(&id, buffer).map_err(failed)?;
    let found = found.filter(|object| object.kind == kind);
    let data = found.ok_or_else(|| GitError::Corrupt(format!("the {kind} {id} is missing")))?.data;
    each_link_in(id, kind, data, each)
}

/// Like [`each_link`], for an object that was already read.
pub(crate) fn each_link_in(
    id: ObjectId,
    kind: Kind,
    data: &[u8],
    mut each: impl FnMut(ObjectId, Option<Kind>),
) -> Result<(), GitError> {
    let malformed = || GitError::Corrupt(format!("the {kind} {id} is malformed"));
    match kind {
        Kind::Commit => {
            let mut commit = CommitRefIter::from_bytes(data, gix::hash::Kind::Sha1);
            let tree = commit.tree_id().map_err(|_| malformed())?;
            let parents: Vec<ObjectId> = commit.parent_ids().collect();
            parents.into_iter().rev().for_each(|parent| each(parent, Some(Kind::Commit)));
            each(tree, Some(Kind::Tree));
        }
        Kind::Tag => {
            let tag = TagRefIter::from_bytes(data, gix::hash::Kind::Sha1);
            each(tag.target_id().map_err(|_| malformed())?, None);
        }
        Kind::Tree => entries::entries_in(id, data, |entry| {
            match entry {
                Entry::Tree(tree) => each(tree, Some(Kind::Tree)),
                Entry::Blob(blob) => each(blob, Some(Kind::Blob)),
            }
            Ok(())
        })?,
        Kind::Blob => (),
    }
    Ok(())
}
