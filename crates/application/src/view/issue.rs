//! Issues with all related rows, in a bounded number of queries for any page size.

use hexforge_domain::award::Votes;
use hexforge_domain::id::UserId;
use hexforge_domain::issue::Issue;
use hexforge_domain::milestone::Milestone;
use hexforge_domain::paging::Paged;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::Project;
use hexforge_domain::user::User;

use super::issuable::{References, Related, RelatedRows};

/// An issue with all related rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueView {
    /// The issue.
    pub issue: Issue,
    /// The titles of its labels, in order.
    pub labels: Vec<String>,
    /// The milestone of the issue.
    pub milestone: Option<Milestone>,
    /// The assignee of the issue.
    pub assignee: Option<User>,
    /// The author of the issue.
    pub author: User,
    /// Whether the reader is subscribed to the issue.
    pub subscribed: bool,
    /// The numbers of upvotes and downvotes.
    pub votes: Votes,
    /// The path of its project, with the namespace.
    pub project_path: String,
}

/// Loads the view of one issue.
pub fn load(
    tx: &mut dyn Tx,
    reader: UserId,
    project: &Project,
    issue: Issue,
) -> Result<IssueView, StoreError> {
    let page = page(tx, reader, Some(project), Paged { items: vec![issue], total: 1 })?;
    page.items.into_iter().next().ok_or(StoreError::Gone)
}

/// Loads the views of a page of issues. If `project` is given, all issues belong to it.
pub fn page(
    tx: &mut dyn Tx,
    reader: UserId,
    project: Option<&Project>,
    issues: Paged<Issue>,
) -> Result<Paged<IssueView>, StoreError> {
    let Paged { items: issues, total } = issues;
    let mut related = Related::load(tx, reader, project, issues.iter().map(References::from))?;
    let view = |issue: Issue| {
        let rows = related.take(References::from(&issue), issue.concerns(reader))?;
        let RelatedRows { labels, milestone, assignee, author, subscribed, votes, project_path } =
            rows;
        Some(IssueView {
            issue,
            labels,
            milestone,
            assignee,
            author,
            subscribed,
            votes,
            project_path,
        })
    };
    Ok(Paged { items: issues.into_iter().filter_map(view).collect(), total })
}
