//! Where releases are kept.

use super::TagName;
use super::release::Release;
use crate::Timestamp;
use crate::id::ProjectId;
use crate::ports::store::StoreError;

/// The releases of all projects, one for each tag at most.
pub trait Releases {
    /// The releases of these tags, in any order.
    fn of_tags(
        &mut self,
        project: ProjectId,
        tags: &[&TagName],
    ) -> Result<Vec<Release>, StoreError>;

    /// The release of a tag.
    fn find(&mut self, project: ProjectId, tag: &TagName) -> Result<Option<Release>, StoreError>;

    /// Adds a release.
    /// # Errors
    /// [`StoreError::Duplicate`]`("tag")` when the tag has one already.
    fn insert(
        &mut self,
        project: ProjectId,
        release: &Release,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Replaces the text of a release; answers whether there was one.
    fn update(
        &mut self,
        project: ProjectId,
        release: &Release,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Removes the release of a tag, if there is one.
    fn remove(&mut self, project: ProjectId, tag: &TagName) -> Result<(), StoreError>;
}
