//! What tags lead to.

use gix::ObjectId;
use gix::object::Kind;
use hexforge_domain::ports::git::GitError;

use crate::error::failed;

/// What an object is in the end, once all tags are followed. Only tags are read: what they lead to may be large.
pub(crate) fn peel(repo: &gix::Repository, named: ObjectId) -> Result<(Kind, ObjectId), GitError> {
    let mut id = named;
    loop {
        let kind = repo.find_header(id).map_err(failed)?.kind();
        if kind != Kind::Tag {
            return Ok((kind, id));
        }
        let tag = repo.find_tag(id).map_err(failed)?;
        id = tag.target_id().map_err(failed)?.detach();
    }
}

/// The commit that an object is, or leads to as a tag.
pub(crate) fn to_commit(
    repo: &gix::Repository,
    named: ObjectId,
) -> Result<Option<ObjectId>, GitError> {
    let (kind, id) = peel(repo, named)?;
    Ok((kind == Kind::Commit).then_some(id))
}
