//! The port to the stored milestones.

use super::{Milestone, MilestoneFilter, NewMilestone};
use crate::id::{MilestoneId, ProjectId};
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;

/// The milestones of all projects. Whoever changes one holds its project.
pub trait Milestones {
    /// Milestones of a project that fit the filter, newest first.
    fn list(
        &mut self,
        project: ProjectId,
        filter: &MilestoneFilter,
        page: Page,
    ) -> Result<Paged<Milestone>, StoreError>;

    /// The milestone of that id, if it is that project's.
    fn find(
        &mut self,
        project: ProjectId,
        id: MilestoneId,
    ) -> Result<Option<Milestone>, StoreError>;

    /// The milestone of exactly that title.
    fn find_by_title(
        &mut self,
        project: ProjectId,
        title: &str,
    ) -> Result<Option<Milestone>, StoreError>;

    /// The milestones of these ids, in no particular order.
    fn find_all(&mut self, ids: &[MilestoneId]) -> Result<Vec<Milestone>, StoreError>;

    /// Makes an active milestone with the next number of its project.
    /// # Errors
    /// [`StoreError::Duplicate`]`("title")` when the project has a milestone of that title.
    fn insert(&mut self, new: NewMilestone) -> Result<Milestone, StoreError>;

    /// Stores every field.
    /// # Errors
    /// See [`insert`](Self::insert).
    fn update(&mut self, milestone: &Milestone) -> Result<(), StoreError>;
}
