//! Projects with all related rows, in a bounded number of queries for any page size.

use std::collections::HashMap;

use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::member::{Membership, is_in_force};
use hexforge_domain::namespace::Namespace;
use hexforge_domain::paging::Paged;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::share::Share;
use hexforge_domain::project::{
    BuildSettings, CoverageExpression, NamespaceWithOwner, Project, ProjectWithNamespace,
};
use hexforge_domain::text::Secret;
use hexforge_domain::unique::sorted_unique;
use hexforge_domain::user::User;

use super::user::load_users;
use crate::access::Requester;

/// A project with all related rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectView {
    /// The project.
    pub project: Project,
    /// The namespace of the project.
    pub place: NamespaceWithOwner,
    /// The source of the fork, if it exists and the reader may see it.
    pub forked_from: Option<ProjectWithNamespace>,
    /// The shares with groups that are in force.
    pub shares: Vec<Share>,
    /// The reader's permissions, where the response shows them.
    pub permissions: Option<Permissions>,
    /// The token with which runners register, if the reader may see it.
    pub runners_token: Option<Secret>,
    /// The expression that finds the coverage in logs, if one is set and the reader may see it.
    pub coverage_expression: Option<CoverageExpression>,
    /// The settings for builds, if the reader may see them.
    pub build_settings: Option<BuildSettings>,
}

/// The memberships of a reader that concern a project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// The reader's membership in the project itself.
    pub project: Option<Membership>,
    /// The reader's membership in the group that owns the project.
    pub group: Option<Membership>,
}

/// Adds the namespace to one project.
pub fn with_namespace(
    tx: &mut dyn Tx,
    project: Project,
) -> Result<ProjectWithNamespace, StoreError> {
    let page = page_with_namespaces(tx, Paged { items: vec![project], total: 1 })?;
    page.items.into_iter().next().ok_or(StoreError::Gone)
}

/// Adds the namespaces to a page of projects.
pub fn page_with_namespaces(
    tx: &mut dyn Tx,
    projects: Paged<Project>,
) -> Result<Paged<ProjectWithNamespace>, StoreError> {
    let namespaces = Namespaces::load(tx, &projects.items)?;
    let with_namespace = |project| namespaces.with_namespace(project);
    let items = projects.items.into_iter().filter_map(with_namespace).collect();
    Ok(Paged { items, total: projects.total })
}

/// Loads the view of one project, without permissions.
pub fn full(
    tx: &mut dyn Tx,
    project: Project,
    reader: Requester,
) -> Result<ProjectView, StoreError> {
    let page = full_page(tx, Paged { items: vec![project], total: 1 }, reader, None)?;
    page.items.into_iter().next().ok_or(StoreError::Gone)
}

/// Loads the views of a page of projects. If `member` is given, the views include the permissions of that user.
pub fn full_page(
    tx: &mut dyn Tx,
    projects: Paged<Project>,
    reader: Requester,
    member: Option<UserId>,
) -> Result<Paged<ProjectView>, StoreError> {
    let Paged { items: projects, total } = projects;
    let sources = readable_sources(tx, &projects, reader)?;
    let namespaces = Namespaces::load(tx, projects.iter().chain(&sources))?;
    Ok(Paged { items: views(tx, projects, (sources, namespaces), reader, member)?, total })
}

/// Like [`full_page`], for one project whose namespace is loaded.
pub(crate) fn full_with_namespace(
    tx: &mut dyn Tx,
    found: ProjectWithNamespace,
    reader: Requester,
    member: Option<UserId>,
) -> Result<ProjectView, StoreError> {
    let ProjectWithNamespace { project, place: NamespaceWithOwner { namespace, owner } } = found;
    let sources = readable_sources(tx, std::slice::from_ref(&project), reader)?;
    let mut namespaces = Namespaces::load(tx, &sources)?;
    namespaces.owners.extend(owner.map(|owner| (owner.id, owner)));
    namespaces.by_id.insert(namespace.id, namespace);
    let mut views = views(tx, vec![project], (sources, namespaces), reader, member)?;
    views.pop().ok_or(StoreError::Gone)
}

/// Adds all related rows to projects whose namespaces and sources are loaded.
fn views(
    tx: &mut dyn Tx,
    projects: Vec<Project>,
    (sources, namespaces): (Vec<Project>, Namespaces),
    reader: Requester,
    member: Option<UserId>,
) -> Result<Vec<ProjectView>, StoreError> {
    let ids: Vec<ProjectId> = projects.iter().map(|project| project.id).collect();
    let sources: HashMap<ProjectId, Project> =
        sources.into_iter().map(|source| (source.id, source)).collect();
    let mut shares: HashMap<ProjectId, Vec<Share>> = HashMap::new();
    for share in tx.shares().of_projects(&ids)? {
        shares.entry(share.share.project).or_default().push(share);
    }
    let memberships = match member {
        Some(user) => Some(Memberships::load(tx, user, &ids, &namespaces)?),
        None => None,
    };
    let view = |project: Project| {
        let forked_from = project.forked_from.and_then(|source| sources.get(&source).cloned());
        let place = namespaces.with_namespace(project.clone())?.place;
        let shares = shares.remove(&project.id).unwrap_or_default();
        Some(ProjectView {
            forked_from: forked_from.and_then(|source| namespaces.with_namespace(source)),
            shares: shares.into_iter().filter(|share| is_shown(share, &place, reader)).collect(),
            permissions: memberships.as_ref().map(|known| known.permissions_in(&project)),
            place,
            runners_token: None,
            coverage_expression: None,
            build_settings: None,
            project,
        })
    };
    Ok(projects.into_iter().filter_map(view).collect())
}

/// Returns the fork sources of projects that the reader may see.
fn readable_sources(
    tx: &mut dyn Tx,
    projects: &[Project],
    reader: Requester,
) -> Result<Vec<Project>, StoreError> {
    let ids: Vec<ProjectId> = projects.iter().filter_map(|project| project.forked_from).collect();
    if ids.is_empty() {
        return Ok(vec![]);
    }
    let sources = tx.projects().find_all(&ids)?;
    reader.readable(tx, sources)
}

/// Returns whether a share is shown. An expired or locked share gives no access, so showing it could reveal a hidden
/// group; an active share makes the group visible to all readers of the project.
fn is_shown(share: &Share, place: &NamespaceWithOwner, reader: Requester) -> bool {
    is_in_force(share.share.expires_at, reader.today) && !place.namespace.share_with_group_lock
}

/// The namespaces of several projects.
struct Namespaces {
    by_id: HashMap<NamespaceId, Namespace>,
    owners: HashMap<UserId, User>,
}

impl Namespaces {
    fn load<'a>(
        tx: &mut dyn Tx,
        projects: impl IntoIterator<Item = &'a Project>,
    ) -> Result<Self, StoreError> {
        let ids = sorted_unique(projects.into_iter().map(|project| project.namespace));
        let namespaces = tx.namespaces().find_all(&ids)?;
        let owners = load_users(tx, namespaces.iter().filter_map(|namespace| namespace.owner))?;
        let by_id = namespaces.into_iter().map(|namespace| (namespace.id, namespace)).collect();
        Ok(Self { by_id, owners })
    }

    /// Adds the namespace to a project. Never returns `None` in practice: every project has a namespace, and the
    /// namespaces of all projects were loaded before.
    fn with_namespace(&self, project: Project) -> Option<ProjectWithNamespace> {
        let namespace = self.by_id.get(&project.namespace)?.clone();
        let owner = namespace.owner.and_then(|owner| self.owners.get(&owner).cloned());
        Some(ProjectWithNamespace { project, place: NamespaceWithOwner { namespace, owner } })
    }
}

/// The memberships of one reader in several projects and their groups.
struct Memberships {
    projects: HashMap<ProjectId, Membership>,
    groups: HashMap<NamespaceId, Membership>,
}

impl Memberships {
    fn load(
        tx: &mut dyn Tx,
        user: UserId,
        ids: &[ProjectId],
        namespaces: &Namespaces,
    ) -> Result<Self, StoreError> {
        // Personal namespaces have no members.
        let groups = namespaces.by_id.values().filter(|namespace| namespace.owner.is_none());
        let groups: Vec<NamespaceId> = groups.map(|group| group.id).collect();
        let of_groups = match groups[..] {
            [] => vec![],
            _ => tx.group_members().of_user(user, &groups)?,
        };
        Ok(Self {
            projects: tx.project_members().of_user(user, ids)?.into_iter().collect(),
            groups: of_groups.into_iter().collect(),
        })
    }

    fn permissions_in(&self, project: &Project) -> Permissions {
        Permissions {
            project: self.projects.get(&project.id).copied(),
            group: self.groups.get(&project.namespace).copied(),
        }
    }
}
