//! Which issues a list shows, and how.

use chrono::NaiveDate;

use crate::id::{MilestoneId, NamespaceId, ProjectId, UserId};
use crate::project::query::Audience;

/// Which issues a list shows. All conditions hold together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueFilter {
    /// Where, and whose.
    pub scope: IssueScope,
    /// Which confidential ones.
    pub clearance: Clearance,
    /// Only open ones, or only closed ones.
    pub open: Option<bool>,
    /// Only those with labels of these titles.
    pub labels: Option<LabelFilter>,
    /// Only those for a milestone of this title.
    pub milestone: Option<String>,
    /// Only the one of this number.
    pub iid: Option<i64>,
    /// By what they are sorted, and then by id in the same direction.
    pub order: IssueOrder,
    /// From the last to the first.
    pub descending: bool,
    /// The day on which memberships and shares have to be in force.
    pub today: NaiveDate,
}

impl IssueFilter {
    /// All issues of a scope, the newest first.
    pub fn newest_first(scope: IssueScope, clearance: Clearance, today: NaiveDate) -> Self {
        Self {
            scope,
            clearance,
            open: None,
            labels: None,
            milestone: None,
            iid: None,
            order: IssueOrder::CreatedAt,
            descending: true,
            today,
        }
    }
}

/// Where issues are, and whose. Those of projects that have switched them off are nowhere, except where
/// a project is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueScope {
    /// In one project.
    Project(ProjectId),
    /// In one project, for a milestone of it.
    Milestone(ProjectId, MilestoneId),
    /// Written by a user, in projects that the audience may see.
    AuthoredBy(UserId, Audience),
    /// In the projects of a group that the audience may see.
    Group(NamespaceId, Audience),
}

/// Which confidential issues somebody sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clearance {
    /// All.
    All,
    /// Those that concern a user, and those of projects in which it is at least a reporter.
    ByStanding(UserId),
    /// Those that concern a user.
    Own(UserId),
    /// None, for callers who are nobody.
    Nothing,
}

/// With which labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelFilter {
    /// At least one of these titles.
    Any(Vec<String>),
    /// Each of these titles.
    All(Vec<String>),
}

/// By what issues are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueOrder {
    /// By the moment of creation.
    CreatedAt,
    /// By the last change.
    UpdatedAt,
}

impl IssueOrder {
    /// The order of that word; what is none is the moment of creation.
    pub fn parse(word: Option<&str>) -> Self {
        match word {
            Some("updated_at") => Self::UpdatedAt,
            Some(_) | None => Self::CreatedAt,
        }
    }
}
