//! The port to the stored issues.

use super::award::{Award, EmojiName, Votes};
use super::query::IssueFilter;
use super::{Issue, NewIssue};
use crate::Timestamp;
use crate::id::{IssueId, LabelId, ProjectId, UserId};
use crate::label::LabelTitle;
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;
use crate::subscription::Subscribed;

/// The issues of all projects. Whoever changes one holds its project. The counters of projects and
/// labels are kept right by the same calls.
pub trait Issues {
    /// The issue of that id, if it is that project's.
    fn find(&mut self, project: ProjectId, id: IssueId) -> Result<Option<Issue>, StoreError>;

    /// The issues of these ids, in no particular order.
    fn find_all(&mut self, ids: &[IssueId]) -> Result<Vec<Issue>, StoreError>;

    /// The issues of these numbers in a project, in no particular order.
    fn find_by_iids(&mut self, project: ProjectId, iids: &[i64]) -> Result<Vec<Issue>, StoreError>;

    /// Issues that fit the filter.
    fn list(&mut self, filter: &IssueFilter, page: Page) -> Result<Paged<Issue>, StoreError>;

    /// Makes an open issue with the next number of its project. Numbers of issues that are gone are not
    /// given again.
    fn insert(&mut self, new: NewIssue) -> Result<Issue, StoreError>;

    /// Stores every field except the number of notes, the project and the number in it.
    fn update(&mut self, issue: &Issue) -> Result<(), StoreError>;

    /// Removes an issue with its notes and the events about both.
    fn delete(&mut self, id: IssueId) -> Result<(), StoreError>;

    /// The labels of several issues: by issue, then by title, byte by byte.
    fn labels_of(
        &mut self,
        issues: &[IssueId],
    ) -> Result<Vec<(IssueId, LabelId, LabelTitle)>, StoreError>;

    /// Gives an issue these labels and no others.
    fn set_labels(&mut self, issue: IssueId, labels: &[LabelId]) -> Result<(), StoreError>;

    /// What a user chose to hear about these issues; about which it chose nothing is left out.
    fn subscriptions(
        &mut self,
        user: UserId,
        issues: &[IssueId],
    ) -> Result<Vec<(IssueId, Subscribed)>, StoreError>;

    /// Stores what a user chose to hear about an issue.
    fn subscribe(
        &mut self,
        issue: IssueId,
        user: UserId,
        subscribed: Subscribed,
    ) -> Result<(), StoreError>;

    /// Of these issues, those in which a user wrote or was named.
    fn participations(
        &mut self,
        user: UserId,
        issues: &[IssueId],
    ) -> Result<Vec<IssueId>, StoreError>;

    /// Notes that a user wrote in an issue.
    fn participate(&mut self, issue: IssueId, user: UserId) -> Result<(), StoreError>;

    /// Gives an issue an emoji; who gave it that already gave it then.
    fn award(
        &mut self,
        issue: IssueId,
        user: UserId,
        name: &EmojiName,
        at: Timestamp,
    ) -> Result<Award, StoreError>;

    /// How many speak for and against these issues; those without any may be left out.
    fn votes(&mut self, issues: &[IssueId]) -> Result<Vec<(IssueId, Votes)>, StoreError>;

    /// Notes that the users of these names were named in an issue; names of nobody mean nothing.
    fn mention(&mut self, issue: IssueId, usernames: &[&str]) -> Result<(), StoreError>;
}
