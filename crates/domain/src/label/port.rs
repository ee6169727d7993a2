//! The port to the stored labels.

use super::{GroupLabel, Label, LabelTitle, NewLabel, VisibleCounts};
use crate::Timestamp;
use crate::id::{LabelId, NamespaceId, ProjectId, UserId};
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;
use crate::project::query::ListAudience;
use crate::subscription::Subscribed;
use chrono::NaiveDate;

/// The labels of all projects. The caller locks the project before a change.
pub trait Labels {
    /// Returns a page of the labels of a project, including group labels, ordered by the bytes of
    /// the title.
    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<Label>, StoreError>;

    /// Returns the first labels of several projects, ordered by the bytes of the title and the id, at most `limit`.
    fn list_of(&mut self, projects: &[ProjectId], limit: u32) -> Result<Vec<Label>, StoreError>;

    /// Returns the label with this [shown id](Label::shown_id) if it belongs to the project or its
    /// group.
    fn find(&mut self, project: ProjectId, id: LabelId) -> Result<Option<Label>, StoreError>;

    /// Returns the label with exactly this title.
    fn find_by_title(
        &mut self,
        project: ProjectId,
        title: &str,
    ) -> Result<Option<Label>, StoreError>;

    /// Returns the labels with these titles, ordered by title. Unknown titles are left out.
    fn find_by_titles(
        &mut self,
        project: ProjectId,
        titles: &[LabelTitle],
    ) -> Result<Vec<Label>, StoreError>;

    /// Returns the labels with these ids, in no particular order.
    fn find_all(&mut self, ids: &[LabelId]) -> Result<Vec<Label>, StoreError>;

    /// Creates labels without any issues, and returns them by title.
    /// # Errors
    /// [`StoreError::Duplicate`]`("title")` when the project already has a label with one of the
    /// titles.
    fn insert_all(
        &mut self,
        project: ProjectId,
        new: Vec<NewLabel>,
    ) -> Result<Vec<Label>, StoreError>;

    /// Stores every field except the counters, and sets the update time to `at`.
    /// # Errors
    /// See [`insert_all`](Self::insert_all).
    fn update(&mut self, label: &Label, at: Timestamp) -> Result<(), StoreError>;

    /// Deletes a label, removes it from its issues, and deletes its subscriptions and its board
    /// list.
    fn delete(&mut self, id: LabelId) -> Result<(), StoreError>;

    /// Returns those of these labels that a user is subscribed to.
    fn subscribed(&mut self, user: UserId, labels: &[LabelId]) -> Result<Vec<LabelId>, StoreError>;

    /// Subscribes a user to a label, or unsubscribes it.
    fn subscribe(
        &mut self,
        label: LabelId,
        user: UserId,
        subscribed: Subscribed,
    ) -> Result<(), StoreError>;

    /// Returns, for each of these labels, the number of confidential issues of a project of which a
    /// user is author or assignee. Labels without such issues may be left out.
    fn count_confidential(
        &mut self,
        project: ProjectId,
        user: UserId,
        labels: &[LabelId],
    ) -> Result<Vec<(LabelId, VisibleCounts)>, StoreError>;
}

/// The labels of all groups. The caller locks the group before a change. Each project of the group
/// has a copy of a group label as a [`Label`] row, unless it already has a label of its own with
/// the same title.
pub trait GroupLabels {
    /// Returns a page of the labels of a group, ordered by the bytes of the title.
    fn list(&mut self, group: NamespaceId, page: Page) -> Result<Paged<GroupLabel>, StoreError>;

    /// Returns the group label with exactly this title.
    fn find_by_title(
        &mut self,
        group: NamespaceId,
        title: &str,
    ) -> Result<Option<GroupLabel>, StoreError>;

    /// Creates a group label and its copies in the projects of the group. The priority is ignored.
    /// # Errors
    /// [`StoreError::Duplicate`]`("title")` when the group already has a label with this title.
    fn insert(&mut self, group: NamespaceId, new: NewLabel) -> Result<GroupLabel, StoreError>;

    /// Stores every field, in the copies of the projects too, and sets the update time to `at`.
    /// # Errors
    /// [`StoreError::Duplicate`]`("title")` when the group or one of its projects has another label
    /// with the title.
    fn update(&mut self, label: &GroupLabel, at: Timestamp) -> Result<(), StoreError>;

    /// Returns whether a project of the group has a label of its own with this title.
    fn is_title_used_in_projects(
        &mut self,
        group: NamespaceId,
        title: &str,
    ) -> Result<bool, StoreError>;

    /// Deletes a group label and its copies in the projects of the group; see [`Labels::delete`].
    fn delete(&mut self, id: LabelId) -> Result<(), StoreError>;

    /// Brings the group labels of a project in line with its current group, for example after a
    /// transfer. Adds the labels of the group that the project lacks. A copy of a label of another
    /// group becomes a label of the project itself if the project uses it, and is deleted otherwise.
    /// The caller locks the project.
    fn adapt_to_group(&mut self, project: ProjectId) -> Result<(), StoreError>;

    /// Returns, for each of these group labels, the number of issues in all projects of the group
    /// that the audience may see. Labels without such issues may be left out.
    fn counts(
        &mut self,
        labels: &[LabelId],
        viewer: ListAudience,
        today: NaiveDate,
    ) -> Result<Vec<(LabelId, VisibleCounts)>, StoreError>;
}
