//! The port to the stored releases.

use super::TagName;
use super::release::Release;
use crate::Timestamp;
use crate::id::ProjectId;
use crate::ports::store_error::StoreError;

/// The releases of all projects. A tag has at most one release.
pub trait Releases {
    /// Returns the releases of these tags, in any order.
    fn of_tags(
        &mut self,
        project: ProjectId,
        tags: &[&TagName],
    ) -> Result<Vec<Release>, StoreError>;

    /// Returns the release of a tag.
    fn find(&mut self, project: ProjectId, tag: &TagName) -> Result<Option<Release>, StoreError>;

    /// Creates a release.
    /// # Errors
    /// [`StoreError::Duplicate`]`("tag")` when the tag already has a release.
    fn insert(
        &mut self,
        project: ProjectId,
        release: &Release,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Replaces the description of a release; returns whether there was one.
    fn update(
        &mut self,
        project: ProjectId,
        release: &Release,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Deletes the release of a tag if it exists.
    fn remove(&mut self, project: ProjectId, tag: &TagName) -> Result<(), StoreError>;
}
