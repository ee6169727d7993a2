//! Merge requests with all related rows, in a bounded number of queries for any page size.

use std::collections::HashMap;

use hexforge_domain::award::Votes;
use hexforge_domain::id::{MergeRequestId, UserId};
use hexforge_domain::issuable::Issuable;
use hexforge_domain::merge_request::MergeRequest;
use hexforge_domain::milestone::Milestone;
use hexforge_domain::paging::Paged;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::Project;
use hexforge_domain::subscription::Subscribed;
use hexforge_domain::user::User;

use super::issue::{load_milestones, load_paths};
use super::subscription::Subscriptions;
use super::user::load_users;

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
    if requests.is_empty() {
        return Ok(Paged { items: vec![], total });
    }
    let ids: Vec<MergeRequestId> = requests.iter().map(|request| request.id).collect();
    let mut labels: HashMap<MergeRequestId, Vec<String>> = HashMap::new();
    for (request, _, title) in tx.merge_requests().labels_of(&ids)? {
        labels.entry(request).or_default().push(title.into_string());
    }
    let milestones = load_milestones(tx, requests.iter().filter_map(|one| one.milestone))?;
    let users = requests.iter().flat_map(|one| one.assignee.into_iter().chain([one.author]));
    let users = load_users(tx, users)?;
    let issuables: Vec<Issuable> = ids.iter().copied().map(Issuable::from).collect();
    let subscriptions = Subscriptions::load(tx, reader, &issuables)?;
    let votes: HashMap<Issuable, Votes> = tx.awards().votes(&issuables)?.into_iter().collect();
    let paths = load_paths(tx, project, requests.iter().map(MergeRequest::project))?;
    // A request is deleted together with its project, its author and its assignee. The deletion of many rows takes
    // several steps: until it is done, requests whose project or user is missing are left out here.
    let view = |request: MergeRequest| {
        let id = Issuable::from(request.id);
        Some(MergeRequestView {
            labels: labels.remove(&request.id).unwrap_or_default(),
            milestone: request.milestone.and_then(|id| milestones.get(&id).cloned()),
            assignee: match request.assignee {
                Some(id) => Some(users.get(&id)?.clone()),
                None => None,
            },
            author: users.get(&request.author)?.clone(),
            subscribed: subscriptions.state_for(id, request.concerns(reader)).as_bool(),
            votes: votes.get(&id).copied().unwrap_or_default(),
            project_path: paths.get(&request.project())?.clone(),
            request,
        })
    };
    Ok(Paged { items: requests.into_iter().filter_map(view).collect(), total })
}

/// Returns whether a user is subscribed to a merge request: by choice, or by default as a participant.
pub fn subscribed(
    tx: &mut dyn Tx,
    user: UserId,
    request: &MergeRequest,
) -> Result<Subscribed, StoreError> {
    let id = Issuable::from(request.id);
    Ok(Subscriptions::load(tx, user, &[id])?.state_for(id, request.concerns(user)))
}
