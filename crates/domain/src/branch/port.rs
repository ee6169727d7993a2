//! The port to the stored branch protections.

use super::protection::Protection;
use crate::id::ProjectId;
use crate::ports::store_error::StoreError;

/// The protected branches of all projects.
pub trait Protections {
    /// All protections of a project, by pattern.
    fn list(&mut self, project: ProjectId) -> Result<Vec<Protection>, StoreError>;

    /// The protection with exactly this pattern.
    fn find(&mut self, project: ProjectId, pattern: &str)
    -> Result<Option<Protection>, StoreError>;

    /// Adds the protection, or replaces the one with the same pattern.
    fn put(&mut self, project: ProjectId, protection: &Protection) -> Result<(), StoreError>;

    /// Removes the protection with exactly this pattern; returns whether there was one.
    fn remove(&mut self, project: ProjectId, pattern: &str) -> Result<bool, StoreError>;
}
