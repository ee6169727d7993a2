//! The entries of an archive, independent of its format.

use std::io::Write;
use std::sync::Arc;

use gix::prelude::ObjectIdExt;
use hexforge_domain::commit::Commit;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::refs;
use hexforge_domain::repository::Archive;

use crate::content::blob::StoredBlob;
use crate::content::commit;
use crate::error::{failed, reader_gone};

/// The commit whose files are archived.
pub(super) struct ArchivedCommit {
    pub(super) id: gix::ObjectId,
    pub(super) tree: gix::ObjectId,
    pub(super) commit: Commit,
    /// The folder that contains all entries, with a trailing slash; empty if there is none.
    pub(super) folder: Vec<u8>,
    /// The refs of the repository.
    pub(super) refs: Arc<refs::Snapshot>,
}

impl ArchivedCommit {
    pub(super) fn read(
        repo: &gix::Repository,
        refs: &Arc<refs::Snapshot>,
        archive: &Archive,
    ) -> Result<Self, GitError> {
        let id = commit::to_gix(archive.commit);
        match repo.try_find_header(id).map_err(failed)? {
            Some(header) if header.kind() == gix::objs::Kind::Commit => {}
            _ => return Err(GitError::Missing),
        }
        let tree = id.attach(repo).object().map_err(failed)?.into_commit().tree_id();
        let mut folder = archive.folder.clone().into_bytes();
        if !folder.is_empty() {
            folder.push(b'/');
        }
        Ok(Self {
            id,
            tree: tree.map_err(failed)?.detach(),
            commit: commit::read(repo, id)?,
            folder,
            refs: Arc::clone(refs),
        })
    }

    /// The modification time of all entries.
    pub(super) fn seconds(&self) -> u64 {
        self.commit.committer.at.timestamp().try_into().unwrap_or_default()
    }
}

/// One entry of an archive.
pub(super) struct Entry<'a> {
    /// The path in the archive; folders end in a slash.
    pub(super) path: &'a [u8],
    /// The id of the blob, tree or submodule commit.
    pub(super) id: gix::ObjectId,
    pub(super) kind: Kind<'a>,
}

pub(super) enum Kind<'a> {
    Folder,
    File { executable: bool, content: Content<'a> },
    Link { target: &'a [u8] },
}

/// The content of a file: in memory, or in the object store.
pub(super) enum Content<'a> {
    InMemory(&'a [u8]),
    Stored(StoredBlob),
}

impl Content<'_> {
    pub(super) fn size(&self) -> u64 {
        match self {
            Content::InMemory(bytes) => bytes.len() as u64,
            Content::Stored(stored) => stored.size,
        }
    }

    pub(super) fn write(&self, repo: &gix::Repository, to: &mut dyn Write) -> Result<(), GitError> {
        match self {
            Content::InMemory(bytes) => to.write_all(bytes).map_err(reader_gone),
            Content::Stored(stored) => stored.write(repo, to),
        }
    }
}

/// A writer for one archive format.
pub(super) trait Sink {
    fn add(&mut self, repo: &gix::Repository, entry: &Entry<'_>) -> Result<(), GitError>;
}
