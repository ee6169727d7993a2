//! Reads objects that must exist.

use gix::ObjectId;
use gix::objs::{Find, FindHeader, Kind};
use hexforge_domain::ports::git::GitError;

use crate::error::failed;

/// Reads the content of an object of this kind into a reusable buffer.
pub(crate) fn object<'a>(
    repo: &gix::Repository,
    id: ObjectId,
    kind: Kind,
    buffer: &'a mut Vec<u8>,
) -> Result<&'a [u8], GitError> {
    if id.is_empty_tree() {
        return Ok(&[]);
    }
    match repo.objects.try_find(&id, buffer).map_err(failed)? {
        Some(object) if object.kind == kind => Ok(object.data),
        Some(_) => Err(GitError::Corrupt(format!("the object {id} is not a {kind}"))),
        None => Err(missing_object(id)),
    }
}

/// The size of an object in bytes.
pub(crate) fn size(repo: &gix::Repository, id: ObjectId) -> Result<u64, GitError> {
    let header = repo.objects.try_header(&id).map_err(failed)?;
    header.map(|header| header.size).ok_or_else(|| missing_object(id))
}

fn missing_object(id: ObjectId) -> GitError {
    GitError::Corrupt(format!("the object {id} is missing"))
}
