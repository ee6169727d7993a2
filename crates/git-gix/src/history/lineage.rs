//! A cache of the parents and times of commits, for history walks.

use std::sync::Arc;

use gix::ObjectId;
use gix::object::Kind;
use gix::objs::{CommitRefIter, Find};
use hexforge_domain::ports::git::GitError;
use quick_cache::sync::Cache;

use crate::error::failed;

/// The maximum number of cached commits, which take some tens of MB.
const CACHED_COMMITS: usize = 200_000;

/// The position of a commit in its history.
pub(crate) struct Lineage {
    /// The committer time in seconds.
    pub(crate) time: i64,
    pub(crate) parents: Box<[ObjectId]>,
}

/// Parents and times of recently read commits of all repositories, by commit id.
pub(crate) struct Lineages(Cache<ObjectId, Arc<Lineage>>);

impl Default for Lineages {
    fn default() -> Self {
        Self(Cache::new(CACHED_COMMITS))
    }
}

impl Lineages {
    /// Returns the parents and the time of a commit, `None` when the object does not exist.
    pub(crate) fn read(
        &self,
        repo: &gix::Repository,
        id: ObjectId,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<Arc<Lineage>>, GitError> {
        if let Some(lineage) = self.0.get(&id) {
            return Ok(Some(lineage));
        }
        let Some(object) = repo.objects.try_find(&id, buffer).map_err(failed)? else {
            return Ok(None);
        };
        let corrupt = || GitError::Corrupt(format!("the object {id} is not a valid commit"));
        if object.kind != Kind::Commit {
            return Err(corrupt());
        }
        let commit = CommitRefIter::from_bytes(object.data, gix::hash::Kind::Sha1);
        let time = commit.committer().map_err(|_| corrupt())?.seconds();
        let lineage = Arc::new(Lineage { time, parents: commit.parent_ids().collect() });
        self.0.insert(id, Arc::clone(&lineage));
        Ok(Some(lineage))
    }
}
