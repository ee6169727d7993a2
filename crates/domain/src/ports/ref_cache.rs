//! The cache of refs.

use std::sync::Arc;

use crate::id::ProjectId;
use crate::refs::Snapshot;

/// A bounded cache of ref snapshots. The version of a snapshot tells whether it is current.
pub trait RefCache: Send + Sync {
    /// The snapshot that is kept of a repository.
    fn get(&self, project: ProjectId) -> Option<Arc<Snapshot>>;

    /// Keeps a snapshot in place of another.
    fn put(&self, project: ProjectId, refs: Arc<Snapshot>);
}

impl dyn RefCache + '_ {
    /// The refs of a repository, if they are of this version or a later one.
    pub fn since(&self, project: ProjectId, version: i64) -> Option<Arc<Snapshot>> {
        self.get(project).filter(|refs| refs.version() >= version)
    }

    /// Keeps committed refs, unless later ones are kept.
    pub fn keep(&self, project: ProjectId, refs: Arc<Snapshot>) {
        if self.since(project, refs.version()).is_none() {
            self.put(project, refs);
        }
    }
}
