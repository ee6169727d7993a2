//! What is in the files that are compared.

use gix::ObjectId;
use gix::bstr::BString;
use gix::objs::tree::EntryKind;
use hexforge_domain::ports::git::GitError;

use crate::error::failed;

/// A larger file is never read here: it counts as binary. git does the same, from 512 MiB on; a server that
/// answers many at once cannot hold as much for each of them.
const BIG_FILE: u64 = 32 << 20;

/// A file with a zero byte among the first of its bytes is binary to git.
const LOOKED_AT: usize = 8000;

/// A file, link or submodule in a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) path: BString,
    pub(super) kind: EntryKind,
    pub(super) id: ObjectId,
}

impl Entry {
    /// Whether it is a file, whoever may execute it.
    pub(super) fn is_file(&self) -> bool {
        matches!(self.kind, EntryKind::Blob | EntryKind::BlobExecutable)
    }

    /// Whether the other is a file, a link or a submodule as this is.
    pub(super) fn is_same_type(&self, other: &Entry) -> bool {
        self.kind == other.kind || self.is_file() && other.is_file()
    }

    /// Mode in git's own notation.
    pub(super) fn mode(&self) -> u32 {
        u32::from(self.kind as u16)
    }
}

/// What is in a file.
pub(super) enum Content {
    Text(Vec<u8>),
    Binary,
}

/// Reads what git compares: the content of a file, the target of a link, the commit of a submodule.
pub(super) fn read(repo: &gix::Repository, entry: &Entry) -> Result<Content, GitError> {
    if entry.kind == EntryKind::Commit {
        return Ok(Content::Text(format!("Subproject commit {}\n", entry.id).into_bytes()));
    }
    let Some(bytes) = bytes(repo, entry)? else { return Ok(Content::Binary) };
    Ok(if is_binary(&bytes) { Content::Binary } else { Content::Text(bytes) })
}

/// The content of a file that is not too big to be read.
pub(super) fn bytes(repo: &gix::Repository, entry: &Entry) -> Result<Option<Vec<u8>>, GitError> {
    if size(repo, entry)? > BIG_FILE {
        return Ok(None);
    }
    let mut blob = repo.find_object(entry.id).map_err(failed)?;
    Ok(Some(std::mem::take(&mut blob.data)))
}

pub(super) fn size(repo: &gix::Repository, entry: &Entry) -> Result<u64, GitError> {
    Ok(repo.find_header(entry.id).map_err(failed)?.size())
}

pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(LOOKED_AT)].contains(&0)
}
