//! The port to the stored labels.

use super::{Label, LabelTitle, NewLabel, SeenCounts};
use crate::Timestamp;
use crate::id::{LabelId, ProjectId, UserId};
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;
use crate::subscription::Subscribed;

/// The labels of all projects. Whoever changes one holds its project.
pub trait Labels {
    /// Labels of a project by title, byte by byte.
    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<Label>, StoreError>;

    /// The label of that id, if it is that project's.
    fn find(&mut self, project: ProjectId, id: LabelId) -> Result<Option<Label>, StoreError>;

    /// The label of exactly that title.
    fn find_by_title(
        &mut self,
        project: ProjectId,
        title: &str,
    ) -> Result<Option<Label>, StoreError>;

    /// The labels of these titles, by title; those that are none are left out.
    fn find_by_titles(
        &mut self,
        project: ProjectId,
        titles: &[LabelTitle],
    ) -> Result<Vec<Label>, StoreError>;

    /// The labels of these ids, in no particular order.
    fn find_all(&mut self, ids: &[LabelId]) -> Result<Vec<Label>, StoreError>;

    /// Makes labels that nothing has yet.
    /// # Errors
    /// [`StoreError::Duplicate`]`("title")` when the project has a label of such a title.
    fn insert_all(&mut self, project: ProjectId, new: Vec<NewLabel>) -> Result<(), StoreError>;

    /// Stores every field except the counters; `at` becomes the last change.
    /// # Errors
    /// See [`insert_all`](Self::insert_all).
    fn update(&mut self, label: &Label, at: Timestamp) -> Result<(), StoreError>;

    /// Removes a label from everything that has it, with its subscriptions and its list of a board.
    fn delete(&mut self, id: LabelId) -> Result<(), StoreError>;

    /// Of these labels, those that a user hears of.
    fn subscribed(&mut self, user: UserId, labels: &[LabelId]) -> Result<Vec<LabelId>, StoreError>;

    /// Sets whether a user hears of a label.
    fn subscribe(
        &mut self,
        label: LabelId,
        user: UserId,
        subscribed: Subscribed,
    ) -> Result<(), StoreError>;

    /// How many confidential issues of a project that a user wrote or is to do have each of these
    /// labels. Labels without any may be left out.
    fn confidential_of(
        &mut self,
        project: ProjectId,
        user: UserId,
        labels: &[LabelId],
    ) -> Result<Vec<(LabelId, SeenCounts)>, StoreError>;
}
