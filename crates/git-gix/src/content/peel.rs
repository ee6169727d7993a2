//! What tags lead to.

use std::collections::HashMap;

use gix::ObjectId;
use gix::object::Kind;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::refs::Ref;

use crate::content::commit::from_gix;
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

/// Follows the tags of many refs, and reads each tag once.
pub(crate) struct Peeler<'r> {
    repo: &'r gix::Repository,
    ends: HashMap<ObjectId, (Kind, ObjectId)>,
}

impl<'r> Peeler<'r> {
    pub(crate) fn new(repo: &'r gix::Repository) -> Self {
        Self { repo, ends: HashMap::new() }
    }

    /// See [`peel`].
    pub(crate) fn peel(&mut self, named: ObjectId) -> Result<(Kind, ObjectId), GitError> {
        let (mut tags, mut id) = (Vec::new(), named);
        let end = loop {
            if let Some(end) = self.ends.get(&id) {
                break *end;
            }
            let kind = self.repo.find_header(id).map_err(failed)?.kind();
            if kind != Kind::Tag {
                break (kind, id);
            }
            tags.push(id);
            let tag = self.repo.find_tag(id).map_err(failed)?;
            id = tag.target_id().map_err(failed)?.detach();
        };
        self.ends.extend(tags.into_iter().map(|tag| (tag, end)));
        Ok(end)
    }

    /// The ref of this name that holds this object.
    pub(crate) fn read_ref(&mut self, name: String, target: ObjectId) -> Result<Ref, GitError> {
        let (_, last) = self.peel(target)?;
        let peeled = (last != target).then(|| from_gix(&last));
        Ok(Ref { name, target: from_gix(&target), peeled })
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
