//! Issues: what is to be done in a project.

pub mod award;
pub mod closing;
pub mod mention;
pub mod names;
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
    /// Its number in the project, from 1 on.
    pub iid: i64,
    /// Of which project.
    pub project: ProjectId,
    /// Who wrote it.
    pub author: UserId,
    /// Who is to do it.
    pub assignee: Option<UserId>,
    /// For what it has to be done.
    pub milestone: Option<MilestoneId>,
    /// Who changed it last, if anybody did.
    pub updated_by: Option<UserId>,
    /// What it became in another project.
    pub moved_to: Option<IssueId>,
    /// What it is, in a line.
    pub title: Title,
    /// What it is, at length.
    pub description: Option<LongText>,
    /// Whether it is done.
    pub state: IssueState,
    /// Whether only those see it whom it concerns.
    pub confidential: bool,
    /// When it is to be done.
    pub due_date: Option<NaiveDate>,
    /// How many notes people wrote on it.
    pub user_notes_count: u32,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was last changed or written about.
    pub updated_at: Timestamp,
}

impl Issue {
    /// Whether a user wrote it or is to do it.
    pub fn concerns(&self, user: UserId) -> bool {
        self.author == user || self.assignee == Some(user)
    }
}

/// What is needed to make an issue.
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
    /// When it is said to have been written.
    pub created_at: Timestamp,
    /// When it is made.
    pub at: Timestamp,
}
