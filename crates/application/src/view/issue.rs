//! Issues with all related rows, in a bounded number of queries for any page size.

use std::collections::HashMap;

use hexforge_domain::award::Votes;
use hexforge_domain::id::{IssueId, MilestoneId, NamespaceId, ProjectId, UserId};
use hexforge_domain::issuable::Issuable;
use hexforge_domain::issue::Issue;
use hexforge_domain::milestone::Milestone;
use hexforge_domain::paging::Paged;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::Project;
use hexforge_domain::subscription::Subscribed;
use hexforge_domain::unique::sorted_unique;
use hexforge_domain::user::User;

use super::subscription::Subscriptions;
use super::user::load_users;

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
    if issues.is_empty() {
        return Ok(Paged { items: vec![], total });
    }
    let ids: Vec<IssueId> = issues.iter().map(|issue| issue.id).collect();
    let mut labels: HashMap<IssueId, Vec<String>> = HashMap::new();
    for (issue, _, title) in tx.issues().labels_of(&ids)? {
        labels.entry(issue).or_default().push(title.into_string());
    }
    let milestones = load_milestones(tx, issues.iter().filter_map(|issue| issue.milestone))?;
    let users = issues.iter().flat_map(|issue| issue.assignee.into_iter().chain([issue.author]));
    let users = load_users(tx, users)?;
    let issuables: Vec<Issuable> = ids.iter().copied().map(Issuable::from).collect();
    let subscriptions = Subscriptions::load(tx, reader, &issuables)?;
    let votes: HashMap<Issuable, Votes> = tx.awards().votes(&issuables)?.into_iter().collect();
    let paths = load_paths(tx, project, issues.iter().map(|issue| issue.project))?;
    // An issue is deleted together with its project, its author and its assignee. The deletion of many rows takes
    // several steps: until it is done, issues whose project or user is missing are left out here.
    let view = |issue: Issue| {
        Some(IssueView {
            labels: labels.remove(&issue.id).unwrap_or_default(),
            milestone: issue.milestone.and_then(|id| milestones.get(&id).cloned()),
            assignee: match issue.assignee {
                Some(id) => Some(users.get(&id)?.clone()),
                None => None,
            },
            author: users.get(&issue.author)?.clone(),
            subscribed: subscriptions.state_for(issue.id.into(), issue.concerns(reader)).as_bool(),
            votes: votes.get(&issue.id.into()).copied().unwrap_or_default(),
            project_path: paths.get(&issue.project)?.clone(),
            issue,
        })
    };
    Ok(Paged { items: issues.into_iter().filter_map(view).collect(), total })
}

/// Returns whether a user is subscribed to an issue: by choice, or by default as a participant.
pub fn subscribed(tx: &mut dyn Tx, user: UserId, issue: &Issue) -> Result<Subscribed, StoreError> {
    let id = Issuable::from(issue.id);
    Ok(Subscriptions::load(tx, user, &[id])?.state_for(id, issue.concerns(user)))
}

/// Loads milestones by their ids.
pub(super) fn load_milestones(
    tx: &mut dyn Tx,
    ids: impl Iterator<Item = MilestoneId>,
) -> Result<HashMap<MilestoneId, Milestone>, StoreError> {
    let ids = sorted_unique(ids);
    let found = tx.milestones().find_all(&ids)?;
    Ok(found.into_iter().map(|milestone| (milestone.id, milestone)).collect())
}

/// Returns the paths of projects, with the namespace. If `project` is given, it is the only one.
pub(super) fn load_paths(
    tx: &mut dyn Tx,
    project: Option<&Project>,
    ids: impl Iterator<Item = ProjectId>,
) -> Result<HashMap<ProjectId, String>, StoreError> {
    let projects = match project {
        Some(project) => vec![project.clone()],
        None => tx.projects().find_all(&sorted_unique(ids))?,
    };
    let namespaces = sorted_unique(projects.iter().map(|project| project.namespace));
    let namespaces: HashMap<NamespaceId, String> =
        (tx.namespaces().find_all(&namespaces)?.into_iter())
            .map(|namespace| (namespace.id, namespace.path.as_str().to_owned()))
            .collect();
    let path = |project: &Project| {
        let namespace = namespaces.get(&project.namespace)?;
        Some((project.id, format!("{namespace}/{}", project.path.as_str())))
    };
    Ok(projects.iter().filter_map(path).collect())
}
