//! The port to the cache of refs.

use std::sync::Arc;

use crate::id::ProjectId;
use crate::refs::Snapshot;

/// A bounded cache of ref snapshots. The version of a snapshot shows whether it is current.
pub trait RefCache: Send + Sync {
    /// The cached snapshot of a repository.
    fn get(&self, project: ProjectId) -> Option<Arc<Snapshot>>;

    /// Caches a snapshot and replaces the earlier one.
    fn put(&self, project: ProjectId, refs: Arc<Snapshot>);
}

impl dyn RefCache + '_ {
    /// The cached refs of a repository, if they are at least as new as `version`.
    pub fn get_at_least(&self, project: ProjectId, version: i64) -> Option<Arc<Snapshot>> {
        self.get(project).filter(|refs| refs.version() >= version)
    }

    /// Caches committed refs, unless refs of the same or a later version are cached.
    pub fn put_if_newer(&self, project: ProjectId, refs: Arc<Snapshot>) {
        if self.get_at_least(project, refs.version()).is_none() {
            self.put(project, refs);
        }
    }
}
