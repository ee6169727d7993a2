//! The port to background maintenance of repositories.

use crate::id::ProjectId;

/// Maintains repositories in the background after changes: merges small packs and writes refs where git sees them. A
/// request may be lost; the next change of the repository queues it again.
pub trait Maintenance: Send + Sync {
    /// Queues a repository and returns at once.
    fn enqueue(&self, project: ProjectId);
}

/// Ignores all requests. For commands and tests, which have no background threads.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMaintenance;

impl Maintenance for NoMaintenance {
    fn enqueue(&self, _: ProjectId) {}
}
