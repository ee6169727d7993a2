//! The port to the stored issues.

use super::award::{Award, EmojiName, Votes};
use super::query::IssueFilter;
use super::{Issue, NewIssue};
use crate::Timestamp;
use crate::id::{IssueId, LabelId, ProjectId, UserId};
use crate::label::LabelTitle;
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;
use crate::subscription::Subscribed;

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

    /// Creates an open issue with the next number of its project. Numbers of deleted issues are not
    /// reused.
    fn insert(&mut self, new: NewIssue) -> Result<Issue, StoreError>;

    /// Stores every field except the note count, the project and the number in the project.
    fn update(&mut self, issue: &Issue) -> Result<(), StoreError>;

    /// Deletes an issue with its notes and the events about both.
    fn delete(&mut self, id: IssueId) -> Result<(), StoreError>;

    /// Returns the labels of several issues, ordered by issue, then by the bytes of the title.
    fn labels_of(
        &mut self,
        issues: &[IssueId],
    ) -> Result<Vec<(IssueId, LabelId, LabelTitle)>, StoreError>;

    /// Replaces the labels of an issue.
    fn set_labels(&mut self, issue: IssueId, labels: &[LabelId]) -> Result<(), StoreError>;

    /// Returns the subscriptions of a user to these issues. Issues without an explicit choice are
    /// left out.
    fn subscriptions(
        &mut self,
        user: UserId,
        issues: &[IssueId],
    ) -> Result<Vec<(IssueId, Subscribed)>, StoreError>;

    /// Stores the subscription of a user to an issue.
    fn subscribe(
        &mut self,
        issue: IssueId,
        user: UserId,
        subscribed: Subscribed,
    ) -> Result<(), StoreError>;

    /// Returns those of these issues in which a user participates: the user wrote a note on the issue
    /// or was mentioned in it.
    fn participations(
        &mut self,
        user: UserId,
        issues: &[IssueId],
    ) -> Result<Vec<IssueId>, StoreError>;

    /// Records that a user participates in an issue.
    fn participate(&mut self, issue: IssueId, user: UserId) -> Result<(), StoreError>;

    /// Adds an emoji award. An existing award of the same user and emoji is returned unchanged.
    fn award(
        &mut self,
        issue: IssueId,
        user: UserId,
        name: &EmojiName,
        at: Timestamp,
    ) -> Result<Award, StoreError>;

    /// Returns the votes on these issues. Issues without votes may be left out.
    fn votes(&mut self, issues: &[IssueId]) -> Result<Vec<(IssueId, Votes)>, StoreError>;

    /// Records the users with these usernames as participants of an issue. Unknown usernames are
    /// ignored.
    fn mention(&mut self, issue: IssueId, usernames: &[&str]) -> Result<(), StoreError>;
}
