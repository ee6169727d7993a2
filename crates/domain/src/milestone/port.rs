//! The port to the stored milestones.

use super::{Milestone, MilestoneFilter, NewMilestone};
use crate::id::{MilestoneId, ProjectId};
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;

/// The milestones of all projects. The caller locks the project before a change.
pub trait Milestones {
    /// Returns a page of the milestones of a project that match the filter, newest first.
    fn list(
        &mut self,
        project: ProjectId,
        filter: &MilestoneFilter,
        page: Page,
    ) -> Result<Paged<Milestone>, StoreError>;

    /// Like [`list`](Self::list), for several projects.
    fn list_of(
        &mut self,
        projects: &[ProjectId],
        filter: &MilestoneFilter,
        page: Page,
    ) -> Result<Paged<Milestone>, StoreError>;

    /// Returns the milestone with this id if it belongs to the project.
    fn find(
        &mut self,
        project: ProjectId,
        id: MilestoneId,
    ) -> Result<Option<Milestone>, StoreError>;

    /// Returns the milestone with exactly this title.
    fn find_by_title(
        &mut self,
        project: ProjectId,
        title: &str,
    ) -> Result<Option<Milestone>, StoreError>;

    /// Returns the milestones with these ids, in no particular order.
    fn find_all(&mut self, ids: &[MilestoneId]) -> Result<Vec<Milestone>, StoreError>;

    /// Creates an active milestone with the next number of its project.
    /// # Errors
    /// [`StoreError::Duplicate`]`("title")` when the project already has a milestone with this
    /// title.
    fn insert(&mut self, new: NewMilestone) -> Result<Milestone, StoreError>;

    /// Stores every field.
    /// # Errors
    /// See [`insert`](Self::insert).
    fn update(&mut self, milestone: &Milestone) -> Result<(), StoreError>;

    /// Deletes a milestone and the events about it. Its issues and merge requests lose it.
    fn delete(&mut self, id: MilestoneId) -> Result<(), StoreError>;
}
