//! Peels annotated tags.

use std::collections::HashMap;

use gix::ObjectId;
use gix::object::Kind;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::refs::Ref;

use crate::content::commit::from_gix;
use crate::error::failed;

/// Follows annotated tags to their final target. Only tag objects are read as a whole, because the target may be large.
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

/// Peels the tags of many refs, and reads each tag object only once.
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

    /// Builds a ref, with the peeled target if `target` is a tag.
    pub(crate) fn read_ref(&mut self, name: String, target: ObjectId) -> Result<Ref, GitError> {
        let (_, last) = self.peel(target)?;
        let peeled = (last != target).then(|| from_gix(&last));
        Ok(Ref { name, target: from_gix(&target), peeled })
    }
}

/// Peels an object to a commit. Returns `None` if it leads to a tree or a blob.
pub(crate) fn to_commit(
    repo: &gix::Repository,
    named: ObjectId,
) -> Result<Option<ObjectId>, GitError> {
    let (kind, id) = peel(repo, named)?;
    Ok((kind == Kind::Commit).then_some(id))
}
