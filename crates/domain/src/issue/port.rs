//! The port to the stored issues.

use super::query::IssueFilter;
use super::{Issue, NewIssue};
use crate::id::{IssueId, LabelId, ProjectId};
use crate::label::LabelTitle;
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;

/// The issues of all projects. The caller locks the project before a change. Each change also
/// updates the issue counters of projects and labels.
pub trait Issues {
    /// Returns the issue with this id if it belongs to the project.
    fn find(&mut self, project: ProjectId, id: IssueId) -> Result<Option<Issue>, StoreError>;

    /// Returns the issues with these ids, in no particular order.
    fn find_all(&mut self, ids: &[IssueId]) -> Result<Vec<Issue>, StoreError>;

    /// Returns the issues with these numbers in a project, in no particular order.
    fn find_by_iids(&mut self, project: ProjectId, iids: &[i64]) -> Result<Vec<Issue>, StoreError>;

    /// Returns a page of the issues that match the filter.
    fn list(&mut self, filter: &IssueFilter, page: Page) -> Result<Paged<Issue>, StoreError>;

    /// Returns the number of issues that match the filter.
    fn count(&mut self, filter: &IssueFilter) -> Result<u64, StoreError>;

    /// Creates an open issue with the next number of its project. Numbers of deleted issues are not
    /// reused.
    fn insert(&mut self, new: NewIssue) -> Result<Issue, StoreError>;

    /// Stores every field except the note count, the project and the number in the project.
    fn update(&mut self, issue: &Issue) -> Result<(), StoreError>;

    /// Deletes an issue with its notes, subscriptions and awards, and the events about all of them.
    fn delete(&mut self, id: IssueId) -> Result<(), StoreError>;

    /// Returns the labels of several issues, ordered by issue, then by the bytes of the title.
    fn labels_of(
        &mut self,
        issues: &[IssueId],
    ) -> Result<Vec<(IssueId, LabelId, LabelTitle)>, StoreError>;

    /// Replaces the labels of an issue.
    fn set_labels(&mut self, issue: IssueId, labels: &[LabelId]) -> Result<(), StoreError>;
}
