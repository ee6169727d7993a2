//! The port to the stored labels.

use super::{GroupLabel, Label, LabelTitle, NewLabel, SeenCounts};
use crate::Timestamp;
use crate::id::{LabelId, NamespaceId, ProjectId, UserId};
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;
use crate::project::query::Audience;
use crate::subscription::Subscribed;
use chrono::NaiveDate;

/// The labels of all projects. Whoever changes one holds its project.
pub trait Labels {
    /// Labels of a project, those of its group among them, by title, byte by byte.
    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<Label>, StoreError>;

    /// The label that is shown with that id, if it is that project's or its group's.
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

/// The labels of all groups. Whoever changes one holds its group. Each project of the group has it too, as a
/// [`Label`] of its own there, unless the project has one of that title already.
pub trait GroupLabels {
    /// Labels of a group by title, byte by byte.
    fn list(&mut self, group: NamespaceId, page: Page) -> Result<Paged<GroupLabel>, StoreError>;

    /// The label of exactly that title.
    fn find_by_title(
        &mut self,
        group: NamespaceId,
        title: &str,
    ) -> Result<Option<GroupLabel>, StoreError>;

    /// Makes a label, in the projects of the group too. A priority means nothing here.
    /// # Errors
    /// [`StoreError::Duplicate`]`("title")` when the group has a label of such a title.
    fn insert(&mut self, group: NamespaceId, new: NewLabel) -> Result<GroupLabel, StoreError>;

    /// Stores every field, in the projects of the group too; `at` becomes the last change.
    /// # Errors
    /// [`StoreError::Duplicate`]`("title")` when the group or one of its projects has another label of that
    /// title.
    fn update(&mut self, label: &GroupLabel, at: Timestamp) -> Result<(), StoreError>;

    /// Whether a project of the group has a label of its own with that title.
    fn is_taken_inside(&mut self, group: NamespaceId, title: &str) -> Result<bool, StoreError>;

    /// Removes a label, from the projects of the group too; see [`Labels::delete`].
    fn delete(&mut self, id: LabelId) -> Result<(), StoreError>;

    /// Gives a project the labels of the group that it is in and lacks. Of labels of other groups those
    /// that it uses become its own, and the others go. Whoever calls it holds the project.
    fn settle(&mut self, project: ProjectId) -> Result<(), StoreError>;

    /// How many issues with each of these labels the audience sees in all projects of the
    /// group. Labels without any may be left out.
    fn counts(
        &mut self,
        labels: &[LabelId],
        viewer: Audience,
        today: NaiveDate,
    ) -> Result<Vec<(LabelId, SeenCounts)>, StoreError>;
}
