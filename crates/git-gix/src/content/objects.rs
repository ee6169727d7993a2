//! Resolves revisions, and reads commits, trees and blobs.

use std::io::Write;
use std::time::{Duration, Instant};

use hexforge_domain::commit::signing::SignedBytes;
use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::ports::git::{Blob, Depth, GitError, GitObjects, Resolved};
use hexforge_domain::repository::TreeEntry;

use crate::content::commit::{from_gix, signed_bytes, to_gix};
use crate::content::revision;
use crate::content::tree;
use crate::error::failed;
use crate::history::reachable::{History, Scope};
use crate::storage::repository::GixRepository;

/// The time limit of one call that searches the history.
const SLICE: Duration = Duration::from_millis(30);

impl GitObjects for GixRepository {
    fn resolve(&self, revision: &str) -> Result<Option<Resolved>, GitError> {
        let Some(handle) = self.handle() else { return Ok(None) };
        revision::resolve(handle.repo(), self.refs(), revision)
    }

    fn is_reachable(&self, id: ObjectId, kept: &[ObjectId]) -> Result<bool, GitError> {
        let Some(handle) = self.handle() else { return Ok(false) };
        let hidden = &self.derived(handle).hidden_tips;
        let kept: Vec<_> = kept.iter().copied().map(to_gix).chain(hidden.iter().copied()).collect();
        self.is_reachable_until(to_gix(id), &kept, Some(Instant::now() + SLICE))
    }

    fn commit(&self, id: ObjectId) -> Result<Option<Commit>, GitError> {
        let Some(handle) = self.handle() else { return Ok(None) };
        let header = handle.repo().try_find_header(to_gix(id)).map_err(failed)?;
        match header {
            Some(header) if header.kind() == gix::object::Kind::Commit => {
                self.shared().commit(self.project(), handle.repo(), to_gix(id)).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn signed_bytes(&self, id: ObjectId) -> Result<Option<SignedBytes>, GitError> {
        let repo = self.handle().ok_or(GitError::Missing)?.repo();
        signed_bytes(repo, to_gix(id))
    }

    fn tree(&self, commit: ObjectId, path: &str, depth: Depth) -> Result<Vec<TreeEntry>, GitError> {
        let repo = self.handle().ok_or(GitError::Missing)?.repo();
        let root = self.root(repo, commit)?;
        let folder = path.strip_suffix('/').unwrap_or(path);
        let found = if folder.is_empty() {
            root
        } else {
            match tree::entry_at(repo, root, folder)? {
                Some((mode, id)) if mode.is_tree() => repo.find_tree(id).map_err(failed)?,
                Some(_) | None => return Ok(Vec::new()),
            }
        };
        match depth {
            Depth::Folder => tree::list(&found, folder),
            Depth::Recursive => tree::list_all(repo, &found, folder),
        }
    }

    fn blob_at(&self, commit: ObjectId, path: &str) -> Result<Option<Blob>, GitError> {
        let repo = self.handle().ok_or(GitError::Missing)?.repo();
        match tree::entry_at(repo, self.root(repo, commit)?, path)? {
            Some((mode, id)) if mode.is_blob_or_symlink() => {
                let header = repo.find_header(id).map_err(failed)?;
                Ok(Some(Blob { id: from_gix(&id), size: header.size() }))
            }
            Some(_) | None => Ok(None),
        }
    }

    fn find_blob(&self, name: &str) -> Result<Option<Blob>, GitError> {
        let Some(handle) = self.handle() else { return Ok(None) };
        let repo = handle.repo();
        let id = match gix::ObjectId::from_hex(name.as_bytes()) {
            Ok(id) => id,
            Err(_) => {
                let Ok(prefix) = gix::hash::Prefix::from_hex(name) else { return Ok(None) };
                match repo.objects.lookup_prefix(prefix, None).map_err(failed)? {
                    Some(Ok(id)) => id,
                    Some(Err(())) | None => return Ok(None),
                }
            }
        };
        let Some(header) = repo.try_find_header(id).map_err(failed)? else { return Ok(None) };
        let is_blob = header.kind() == gix::object::Kind::Blob;
        Ok(is_blob.then(|| Blob { id: from_gix(&id), size: header.size() }))
    }

    fn write_blob(&self, id: ObjectId, to: &mut dyn Write) -> Result<(), GitError> {
        let handle = self.handle().ok_or(GitError::Missing)?;
        self.shared().files.write(self.project(), handle.repo(), to_gix(id), to)
    }
}

impl GixRepository {
    /// Returns whether an object is reachable from a visible ref or from one of the `kept` objects.
    /// # Errors
    /// Those of [`WalkCache::unreachable`](crate::history::reachable::WalkCache::unreachable).
    pub(crate) fn is_reachable_until(
        &self,
        id: gix::ObjectId,
        kept: &[gix::ObjectId],
        until: Option<Instant>,
    ) -> Result<bool, GitError> {
        let Some(handle) = self.handle() else { return Ok(false) };
        let mut tips = self.derived(handle).tips.clone();
        tips.extend(kept);
        let scope = if kept.is_empty() { Scope::Refs } else { Scope::RefsAndKept };
        let shared = self.shared();
        let history = History { repo: handle.repo(), lineages: &shared.lineages };
        let place = (self.project(), scope);
        let ids = std::iter::once(id);
        Ok(shared.walks.unreachable(history, place, tips, ids, until)?.is_empty())
    }

    /// The root tree of a commit.
    pub(crate) fn root<'r>(
        &self,
        repo: &'r gix::Repository,
        commit: ObjectId,
    ) -> Result<gix::Tree<'r>, GitError> {
        let root = self.shared().root_tree(self.project(), repo, to_gix(commit))?;
        repo.find_tree(root).map_err(failed)
    }
}
