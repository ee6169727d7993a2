//! Merge requests with all related rows, in a bounded number of queries for any page size.

use hexforge_domain::award::Votes;
use hexforge_domain::id::UserId;
use hexforge_domain::merge_request::MergeRequest;
use hexforge_domain::milestone::Milestone;
use hexforge_domain::paging::Paged;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::Project;
use hexforge_domain::user::User;

use super::issuable::{References, Related, RelatedRows};

/// A merge request with all related rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeRequestView {
    /// The merge request.
    pub request: MergeRequest,
    /// The titles of its labels, in order.
    pub labels: Vec<String>,
    /// The milestone of the request.
    pub milestone: Option<Milestone>,
    /// The assignee of the request.
    pub assignee: Option<User>,
    /// The author of the request.
    pub author: User,
    /// Whether the reader is subscribed to the request.
    pub subscribed: bool,
    /// The numbers of upvotes and downvotes.
    pub votes: Votes,
    /// The path of the target project, with the namespace.
    pub project_path: String,
}

/// Loads the view of one merge request.
pub fn load(
    tx: &mut dyn Tx,
    reader: UserId,
    project: &Project,
    request: MergeRequest,
) -> Result<MergeRequestView, StoreError> {
    let page = page(tx, reader, Some(project), Paged { items: vec![request], total: 1 })?;
    page.items.into_iter().next().ok_or(StoreError::Gone)
}

/// Loads the views of a page of merge requests. If `project` is given, it is the target project of all of them.
pub fn page(
    tx: &mut dyn Tx,
    reader: UserId,
    project: Option<&Project>,
    requests: Paged<MergeRequest>,
) -> Result<Paged<MergeRequestView>, StoreError> {
    let Paged { items: requests, total } = requests;
    let mut related = Related::load(tx, reader, project, requests.iter().map(References::from))?;
    let view = |request: MergeRequest| {
        let rows = related.take(References::from(&request), request.concerns(reader))?;
        let RelatedRows { labels, milestone, assignee, author, subscribed, votes, project_path } =
            rows;
        Some(MergeRequestView {
            request,
            labels,
            milestone,
            assignee,
            author,
            subscribed,
            votes,
            project_path,
        })
    };
    Ok(Paged { items: requests.into_iter().filter_map(view).collect(), total })
}
