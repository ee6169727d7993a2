//! Converts gix commits to domain commits.

use gix::bstr::ByteSlice;
use hexforge_domain::commit::signing::{SignatureFormat, SignedBytes};
use hexforge_domain::commit::{Commit, ObjectId, Signature};
use hexforge_domain::ports::git::GitError;

use crate::error::failed;
use crate::text;

/// Converts an object id to its gix type.
pub(crate) fn to_gix(id: ObjectId) -> gix::ObjectId {
    gix::ObjectId::Sha1(*id.as_bytes())
}

/// Converts an object id from its gix type.
pub(crate) fn from_gix(id: &gix::oid) -> ObjectId {
    let mut bytes = [0; 20];
    bytes.copy_from_slice(&id.as_bytes()[..20]);
    ObjectId::from_bytes(bytes)
}

/// Reads a commit that must exist.
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
        signed: commit.extra_headers().pgp_signature().map(|text| SignatureFormat::of(text)),
    })
}

/// Splits a commit that must exist into its signature and what it signs.
pub(crate) fn signed_bytes(
    repo: &gix::Repository,
    id: gix::ObjectId,
) -> Result<Option<SignedBytes>, GitError> {
    let commit = repo.find_commit(id).map_err(failed)?;
    Ok(SignedBytes::split(&commit.data))
}

fn signature(signature: gix::actor::SignatureRef<'_>, encoding: Option<&[u8]>) -> Signature {
    // As in git, a time that cannot be parsed becomes the epoch.
    let time = signature.time().unwrap_or_default();
    Signature {
        name: text::decode_as(signature.name, encoding),
        email: text::decode_as(signature.email, encoding),
        at: Signature::time(time.seconds, time.offset),
    }
}
