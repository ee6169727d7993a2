//! The port to work on repositories that follows their changes.

use crate::id::ProjectId;

/// Has repositories tended in the background after changes: small packs are merged, and refs are written where git sees
/// them. A request may be lost: it comes again with the next change.
pub trait Upkeep: Send + Sync {
    /// Queues a repository and returns at once.
    fn later(&self, project: ProjectId);
}

/// Ignores all requests: for commands and tests, which have no threads in the background.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoUpkeep;

impl Upkeep for NoUpkeep {
    fn later(&self, _: ProjectId) {}
}
