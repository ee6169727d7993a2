//! Filter and order of issue lists.

use chrono::NaiveDate;

use crate::id::{MilestoneId, NamespaceId, ProjectId, UserId};
use crate::project::query::ListAudience;

/// The filter and order of an issue list. All conditions are combined with AND.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueFilter {
    /// The set of issues from which the list is taken.
    pub scope: IssueScope,
    /// The confidential issues to include.
    pub clearance: Clearance,
    /// `true` for open issues, `false` for closed ones, `None` for both.
    pub open: Option<bool>,
    /// Only issues with labels of these titles.
    pub labels: Option<LabelFilter>,
    /// Only issues of a milestone with this title.
    pub milestone: Option<String>,
    /// Only the issue with this number.
    pub iid: Option<i64>,
    /// Only issues of this author.
    pub author: Option<UserId>,
    /// Only issues that are assigned to this user.
    pub assignee: Option<UserId>,
    /// Only issues whose title or description contains this text. ASCII case is ignored.
    pub search: Option<String>,
    /// Only issues without labels of these titles.
    pub without_labels: Vec<String>,
    /// The sort column. Ties are ordered by id in the same direction.
    pub order: IssueOrder,
    /// Whether the order is descending.
    pub descending: bool,
    /// The date on which memberships and shares must be in force.
    pub today: NaiveDate,
}

impl IssueFilter {
    /// Selects all issues of a scope, newest first.
    pub fn newest_first(scope: IssueScope, clearance: Clearance, today: NaiveDate) -> Self {
        Self {
            scope,
            clearance,
            open: None,
            labels: None,
            milestone: None,
            iid: None,
            author: None,
            assignee: None,
            search: None,
            without_labels: vec![],
            order: IssueOrder::CreatedAt,
            descending: true,
            today,
        }
    }
}

/// The set of issues from which a list is taken. Projects with issues disabled are left out, except
/// in the scopes that name one project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueScope {
    /// The issues of one project.
    Project(ProjectId),
    /// The issues of one milestone of a project.
    Milestone(ProjectId, MilestoneId),
    /// The issues that a user wrote, in projects that the audience may see.
    AuthoredBy(UserId, ListAudience),
    /// The issues that are assigned to a user, in projects that the audience may see.
    AssignedTo(UserId, ListAudience),
    /// The issues in the projects of a group that the audience may see.
    Group(NamespaceId, ListAudience),
}

/// The confidential issues that a viewer may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clearance {
    /// All confidential issues.
    All,
    /// Issues of which the user is author or assignee, and issues of projects in which the user is
    /// at least a reporter.
    ByRole(UserId),
    /// Issues of which the user is author or assignee.
    Own(UserId),
    /// No confidential issues: the caller is anonymous.
    Nothing,
}

/// A condition on the labels of issues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelFilter {
    /// At least one of these titles.
    Any(Vec<String>),
    /// All of these titles.
    All(Vec<String>),
}

/// The sort column of an issue list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueOrder {
    /// The creation time.
    CreatedAt,
    /// The time of the last change.
    UpdatedAt,
}

impl IssueOrder {
    /// Parses the sort column. A missing or unknown word selects the creation time.
    pub fn parse(word: Option<&str>) -> Self {
        match word {
            Some("updated_at") => Self::UpdatedAt,
            Some(_) | None => Self::CreatedAt,
        }
    }
}
