//! Reads the contents of compared files.

use gix::ObjectId;
use gix::bstr::BString;
use gix::objs::tree::EntryKind;
use hexforge_domain::ports::git::GitError;

use crate::error::failed;
use crate::history::contributors::lines::is_binary;

/// Larger files are not read and count as binary. git has the same rule from 512 MiB on, which is too much memory for
/// each of many concurrent requests.
pub(crate) const BIG_FILE: u64 = 32 << 20;

/// A file, link or submodule in a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) path: BString,
    pub(crate) kind: EntryKind,
    pub(crate) id: ObjectId,
}

impl Entry {
    /// Returns whether the entry is a file, executable or not.
    pub(super) fn is_file(&self) -> bool {
        matches!(self.kind, EntryKind::Blob | EntryKind::BlobExecutable)
    }

    /// Returns whether both entries are files, both links, or both submodules.
    pub(crate) fn is_same_type(&self, other: &Entry) -> bool {
        self.kind == other.kind || self.is_file() && other.is_file()
    }

    /// The mode as a number, as in a tree object.
    pub(super) fn mode(&self) -> u32 {
        u32::from(self.kind as u16)
    }
}

/// The content of a file.
pub(super) enum Content {
    Text(Vec<u8>),
    Binary,
}

/// Reads the content that git compares: the text of a file, the target of a link, or the commit id of a submodule.
pub(super) fn read(repo: &gix::Repository, entry: &Entry) -> Result<Content, GitError> {
    if entry.kind == EntryKind::Commit {
        return Ok(Content::Text(format!("Subproject commit {}\n", entry.id).into_bytes()));
    }
    let Some(bytes) = bytes(repo, entry)? else { return Ok(Content::Binary) };
    Ok(if is_binary(&bytes) { Content::Binary } else { Content::Text(bytes) })
}

/// The content of a file; `None` when it is too large.
pub(crate) fn bytes(repo: &gix::Repository, entry: &Entry) -> Result<Option<Vec<u8>>, GitError> {
    if size(repo, entry)? > BIG_FILE {
        return Ok(None);
    }
    let mut blob = repo.find_object(entry.id).map_err(failed)?;
    Ok(Some(std::mem::take(&mut blob.data)))
}

pub(crate) fn size(repo: &gix::Repository, entry: &Entry) -> Result<u64, GitError> {
    Ok(repo.find_header(entry.id).map_err(failed)?.size())
}
