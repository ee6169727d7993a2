//! Issues: the entity, its input type, and the values that belong to it.

pub mod closing;
pub mod commit_reference;
pub mod inline;
pub mod label_list;
pub mod mention;
pub mod port;
pub mod query;
pub mod reference;
pub mod state;

pub use crate::milestone::Title;
use crate::text::LongText;
pub use state::{IssueCommand, IssueState};

use chrono::NaiveDate;

use crate::Timestamp;
use crate::id::{IssueId, MilestoneId, ProjectId, UserId};

/// An issue as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Assigned by the store, never reused.
    pub id: IssueId,
    /// The number in the project, from 1 on.
    pub iid: i64,
    /// The project of the issue.
    pub project: ProjectId,
    /// The author.
    pub author: UserId,
    /// The user who has to resolve the issue.
    pub assignee: Option<UserId>,
    /// The milestone that the issue belongs to.
    pub milestone: Option<MilestoneId>,
    /// The last editor, if the issue was edited.
    pub updated_by: Option<UserId>,
    /// The issue in another project that this issue was moved to.
    pub moved_to: Option<IssueId>,
    /// The title, one line.
    pub title: Title,
    /// The description, of any length up to the limit.
    pub description: Option<LongText>,
    /// Opened, reopened or closed.
    pub state: IssueState,
    /// Whether the issue is visible only to its author, its assignee and members from reporter up.
    pub confidential: bool,
    /// The due date.
    pub due_date: Option<NaiveDate>,
    /// The number of notes written by users; system notes do not count.
    pub user_notes_count: u32,
    /// The creation time.
    pub created_at: Timestamp,
    /// The time of the last edit or note.
    pub updated_at: Timestamp,
}

impl Issue {
    /// Returns whether a user is the author or the assignee.
    pub fn concerns(&self, user: UserId) -> bool {
        self.author == user || self.assignee == Some(user)
    }
}

/// The input for a new issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewIssue {
    /// See [`Issue::project`].
    pub project: ProjectId,
    /// See [`Issue::author`].
    pub author: UserId,
    /// See [`Issue::assignee`].
    pub assignee: Option<UserId>,
    /// See [`Issue::milestone`].
    pub milestone: Option<MilestoneId>,
    /// See [`Issue::title`].
    pub title: Title,
    /// See [`Issue::description`].
    pub description: Option<LongText>,
    /// See [`Issue::confidential`].
    pub confidential: bool,
    /// See [`Issue::due_date`].
    pub due_date: Option<NaiveDate>,
    /// See [`Issue::created_at`]. Callers with the permission may choose it.
    pub created_at: Timestamp,
    /// The first value of [`Issue::updated_at`].
    pub at: Timestamp,
}
