//! Commits of gix as those of the domain.

use gix::bstr::ByteSlice;
use hexforge_domain::commit::{Commit, ObjectId, Signature};
use hexforge_domain::ports::git::GitError;

use crate::error::failed;
use crate::text;

/// The name of an object, as gix has it.
pub(crate) fn to_gix(id: ObjectId) -> gix::ObjectId {
    gix::ObjectId::Sha1(*id.as_bytes())
}

/// The name of an object, as the domain has it.
pub(crate) fn from_gix(id: &gix::oid) -> ObjectId {
    let mut bytes = [0; 20];
    bytes.copy_from_slice(&id.as_bytes()[..20]);
    ObjectId::from_bytes(bytes)
}

/// Reads a commit that has to be there.
pub(crate) fn read(repo: &gix::Repository, id: gix::ObjectId) -> Result<Commit, GitError> {
    let commit = repo.find_commit(id).map_err(failed)?;
    let commit = commit.decode().map_err(failed)?;
    let encoding = commit.encoding.map(|label| label.as_bytes());
    Ok(Commit {
        id: from_gix(&id),
        parents: commit.parents().map(|parent| from_gix(&parent)).collect(),
        message: text::decode_as(commit.message, encoding),
        author: signature(commit.author().map_err(failed)?, encoding),
        committer: signature(commit.committer().map_err(failed)?, encoding),
    })
}

fn signature(signature: gix::actor::SignatureRef<'_>, encoding: Option<&[u8]>) -> Signature {
    // A time that cannot be read counts from the beginning, as in git.
    let time = signature.time().unwrap_or_default();
    Signature {
        name: text::decode_as(signature.name, encoding),
        email: text::decode_as(signature.email, encoding),
        at: Signature::time(time.seconds, time.offset),
    }
}
