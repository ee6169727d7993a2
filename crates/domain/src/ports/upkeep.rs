//! The port to background maintenance of repositories.

use crate::id::ProjectId;

/// Maintains repositories in the background after changes: merges small packs and writes refs where git sees them. A
/// request may be lost; the next change of the repository queues it again.
pub trait Upkeep: Send + Sync {
    /// Queues a repository and returns at once.
    fn later(&self, project: ProjectId);
}

/// Ignores all requests. For commands and tests, which have no background threads.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoUpkeep;

impl Upkeep for NoUpkeep {
    fn later(&self, _: ProjectId) {}
}
