//! The rows that issues and merge requests refer to, in a bounded number of queries for any page size.

use std::collections::HashMap;

use hexforge_domain::award::Votes;
use hexforge_domain::id::{MilestoneId, NamespaceId, ProjectId, UserId};
use hexforge_domain::issuable::{Issuable, IssuableDetails};
use hexforge_domain::issue::Issue;
use hexforge_domain::label::LabelTitle;
use hexforge_domain::merge_request::MergeRequest;
use hexforge_domain::milestone::Milestone;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::Project;
use hexforge_domain::subscription::Subscribed;
use hexforge_domain::unique::sorted_unique;
use hexforge_domain::user::User;

use super::user::load_users;

/// The ids of an issue or merge request and of the rows that it refers to.
#[derive(Clone, Copy)]
pub(super) struct References {
    id: Issuable,
    project: ProjectId,
    milestone: Option<MilestoneId>,
    assignee: Option<UserId>,
    author: UserId,
}

impl From<&Issue> for References {
    fn from(issue: &Issue) -> Self {
        Self {
            id: issue.id.into(),
            project: issue.project,
            milestone: issue.milestone,
            assignee: issue.assignee,
            author: issue.author,
        }
    }
}

impl From<&MergeRequest> for References {
    fn from(request: &MergeRequest) -> Self {
        Self {
            id: request.id.into(),
            project: request.project(),
            milestone: request.milestone,
            assignee: request.assignee,
            author: request.author,
        }
    }
}

/// The rows that a page of issues or merge requests refers to.
#[derive(Default)]
pub(super) struct Related {
    milestones: HashMap<MilestoneId, Milestone>,
    users: HashMap<UserId, User>,
    details: HashMap<Issuable, IssuableDetails>,
    paths: HashMap<ProjectId, String>,
}

/// The rows that one issue or merge request refers to.
pub(super) struct RelatedRows {
    pub labels: Vec<String>,
    pub milestone: Option<Milestone>,
    pub assignee: Option<User>,
    pub author: User,
    pub subscribed: bool,
    pub votes: Votes,
    pub project_path: String,
}

impl Related {
    /// Loads the rows for a page. If `project` is given, all issues or merge requests belong to it.
    pub(super) fn load(
        tx: &mut dyn Tx,
        reader: UserId,
        project: Option<&Project>,
        page: impl Iterator<Item = References>,
    ) -> Result<Self, StoreError> {
        let page: Vec<References> = page.collect();
        if page.is_empty() {
            return Ok(Self::default());
        }
        let milestones = load_milestones(tx, page.iter().filter_map(|row| row.milestone))?;
        let users = page.iter().flat_map(|row| row.assignee.into_iter().chain([row.author]));
        let users = load_users(tx, users)?;
        let ids: Vec<Issuable> = page.iter().map(|row| row.id).collect();
        let details = tx.issuables().details(reader, &ids)?.into_iter().collect();
        let paths = load_paths(tx, project, page.iter().map(|row| row.project))?;
        Ok(Self { milestones, users, details, paths })
    }

    /// Returns the rows for one issue or merge request of the page, which is asked for once. `concerned` tells whether
    /// the reader is the author or the assignee.
    ///
    /// An issue or merge request is deleted together with its project, its author and its assignee. The deletion of
    /// many rows takes several steps: until it is done, the project or a user can be missing, and the result is `None`.
    pub(super) fn take(&mut self, row: References, concerned: bool) -> Option<RelatedRows> {
        let details = self.details.remove(&row.id).unwrap_or_default();
        Some(RelatedRows {
            subscribed: details.subscribed(concerned).as_bool(),
            votes: details.votes,
            labels: details.labels.into_iter().map(LabelTitle::into_string).collect(),
            milestone: row.milestone.and_then(|id| self.milestones.get(&id).cloned()),
            assignee: match row.assignee {
                Some(id) => Some(self.users.get(&id)?.clone()),
                None => None,
            },
            author: self.users.get(&row.author)?.clone(),
            project_path: self.paths.get(&row.project)?.clone(),
        })
    }
}

/// Returns whether a user is subscribed to an issue or merge request: by choice, or by default as a participant.
/// `concerned` tells whether the user is the author or the assignee.
pub(crate) fn subscribed(
    tx: &mut dyn Tx,
    user: UserId,
    id: Issuable,
    concerned: bool,
) -> Result<Subscribed, StoreError> {
    let subscription = tx.issuables().subscription(user, id)?;
    Ok(subscription.unwrap_or(Subscribed::from_bool(concerned)))
}

/// Loads milestones by their ids.
fn load_milestones(
    tx: &mut dyn Tx,
    ids: impl Iterator<Item = MilestoneId>,
) -> Result<HashMap<MilestoneId, Milestone>, StoreError> {
    let ids = sorted_unique(ids);
    let found = tx.milestones().find_all(&ids)?;
    Ok(found.into_iter().map(|milestone| (milestone.id, milestone)).collect())
}

/// Returns the paths of projects, with the namespace. If `project` is given, it is the only one.
fn load_paths(
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
