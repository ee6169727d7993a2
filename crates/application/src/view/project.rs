//! Projects with what answers show beside them, in a bounded number of queries whatever the page.

use std::collections::HashMap;

use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::member::{Membership, in_force};
use hexforge_domain::namespace::Namespace;
use hexforge_domain::outbox::ProjectFacts;
use hexforge_domain::paging::Paged;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::share::Share;
use hexforge_domain::project::{CoverageExpression, Project};
use hexforge_domain::text::Secret;
use hexforge_domain::user::User;

use crate::access::Requester;

/// Where a project is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its namespace.
    pub namespace: Namespace,
    /// The user whose namespace that is; a group's has none.
    pub owner: Option<User>,
}

impl Place {
    /// The namespace's name for people: the group's, or that of the user.
    pub fn human_name(&self) -> &str {
        match &self.owner {
            Some(owner) => owner.name.as_str(),
            None => &self.namespace.name,
        }
    }

    /// The whole path of a project in it.
    pub fn path_of(&self, project: &Project) -> String {
        format!("{}/{}", self.namespace.path.as_str(), project.path.as_str())
    }

    /// What hooks are told about a project in it.
    pub fn facts(&self, project: &Project) -> ProjectFacts {
        ProjectFacts {
            id: project.id,
            name: project.name.as_str().to_owned(),
            path: project.path.as_str().to_owned(),
            path_with_namespace: self.path_of(project),
            owner_name: self.human_name().to_owned(),
            owner_email: self
                .owner
                .as_ref()
                .map_or_else(String::new, |owner| owner.email.as_str().to_owned()),
            visibility: project.visibility,
            created_at: project.created_at,
            updated_at: project.updated_at,
        }
    }
}

/// A project with its place: all that its short form shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedProject {
    /// The project.
    pub project: Project,
    /// Where it is.
    pub place: Place,
}

/// A project in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectView {
    /// The project.
    pub project: Project,
    /// Where it is.
    pub place: Place,
    /// What it was forked from, while that exists and the reader sees it.
    pub forked_from: Option<PlacedProject>,
    /// With which groups it is shared, as long as that gives them something.
    pub shares: Vec<Share>,
    /// What the reader is to it, where the answer shows that.
    pub permissions: Option<Permissions>,
    /// The token by which runners register, where the reader may see it.
    pub runners_token: Option<Secret>,
    /// By which the coverage is found in logs, where it is set and the reader may see it.
    pub coverage_expression: Option<CoverageExpression>,
}

/// What a reader is to a project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// Its own membership in the project.
    pub project: Option<Membership>,
    /// Its membership in the group that owns the project.
    pub group: Option<Membership>,
}

/// Adds its place to one project.
pub fn placed(tx: &mut dyn Tx, project: Project) -> Result<PlacedProject, StoreError> {
    let page = placed_page(tx, Paged { items: vec![project], total: 1 })?;
    page.items.into_iter().next().ok_or(StoreError::Gone)
}

/// Adds their places to a page of projects.
pub fn placed_page(
    tx: &mut dyn Tx,
    projects: Paged<Project>,
) -> Result<Paged<PlacedProject>, StoreError> {
    let places = Places::load(tx, &projects.items)?;
    let items = projects.items.into_iter().filter_map(|project| places.place(project)).collect();
    Ok(Paged { items, total: projects.total })
}

/// Completes one project, without permissions.
pub fn full(
    tx: &mut dyn Tx,
    project: Project,
    reader: Requester,
) -> Result<ProjectView, StoreError> {
    let page = full_page(tx, Paged { items: vec![project], total: 1 }, reader, None)?;
    page.items.into_iter().next().ok_or(StoreError::Gone)
}

/// Completes a page of projects; with a member, also by what that is to each of them.
pub fn full_page(
    tx: &mut dyn Tx,
    projects: Paged<Project>,
    reader: Requester,
    member: Option<UserId>,
) -> Result<Paged<ProjectView>, StoreError> {
    let Paged { items: projects, total } = projects;
    let ids: Vec<ProjectId> = projects.iter().map(|project| project.id).collect();
    let sources = seen_sources(tx, &projects, reader)?;
    let places = Places::load(tx, projects.iter().chain(&sources))?;
    let sources: HashMap<ProjectId, Project> =
        sources.into_iter().map(|source| (source.id, source)).collect();
    let mut shares: HashMap<ProjectId, Vec<Share>> = HashMap::new();
    for share in tx.shares().of(&ids)? {
        shares.entry(share.share.project).or_default().push(share);
    }
    let memberships = match member {
        Some(user) => Some(Memberships::load(tx, user, &ids, &places)?),
        None => None,
    };
    let view = |project: Project| {
        let forked_from = project.forked_from.and_then(|source| sources.get(&source).cloned());
        let place = places.place(project.clone())?.place;
        let shares = shares.remove(&project.id).unwrap_or_default();
        Some(ProjectView {
            forked_from: forked_from.and_then(|source| places.place(source)),
            shares: shares.into_iter().filter(|share| is_shown(share, &place, reader)).collect(),
            permissions: memberships.as_ref().map(|known| known.of(&project)),
            place,
            runners_token: None,
            coverage_expression: None,
            project,
        })
    };
    Ok(Paged { items: projects.into_iter().filter_map(view).collect(), total })
}

/// What projects were forked from, as far as the reader sees it.
fn seen_sources(
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

/// Only a share that gives something is shown: then whoever sees the project may see the group too, and
/// nobody learns of a group that is hidden.
fn is_shown(share: &Share, place: &Place, reader: Requester) -> bool {
    in_force(share.share.expires_at, reader.today) && !place.namespace.share_with_group_lock
}

/// The places of several projects.
struct Places {
    namespaces: HashMap<NamespaceId, Namespace>,
    owners: HashMap<UserId, User>,
}

impl Places {
    fn load<'a>(
        tx: &mut dyn Tx,
        projects: impl IntoIterator<Item = &'a Project>,
    ) -> Result<Self, StoreError> {
        let mut ids: Vec<NamespaceId> =
            projects.into_iter().map(|project| project.namespace).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.is_empty() {
            return Ok(Self { namespaces: HashMap::new(), owners: HashMap::new() });
        }
        let namespaces = tx.namespaces().find_all(&ids)?;
        let owners: Vec<UserId> =
            namespaces.iter().filter_map(|namespace| namespace.owner).collect();
        let owners = if owners.is_empty() { vec![] } else { tx.users().find_all(&owners)? };
        Ok(Self {
            namespaces: namespaces.into_iter().map(|namespace| (namespace.id, namespace)).collect(),
            owners: owners.into_iter().map(|owner| (owner.id, owner)).collect(),
        })
    }

    /// Every project has a namespace, and one read together with it: `None` does not happen.
    fn place(&self, project: Project) -> Option<PlacedProject> {
        let namespace = self.namespaces.get(&project.namespace)?.clone();
        let owner = namespace.owner.and_then(|owner| self.owners.get(&owner).cloned());
        Some(PlacedProject { project, place: Place { namespace, owner } })
    }
}

/// What one reader is to several projects.
struct Memberships {
    projects: HashMap<ProjectId, Membership>,
    groups: HashMap<NamespaceId, Membership>,
}

impl Memberships {
    fn load(
        tx: &mut dyn Tx,
        user: UserId,
        ids: &[ProjectId],
        places: &Places,
    ) -> Result<Self, StoreError> {
        // Namespaces of users have no members.
        let groups = places.namespaces.values().filter(|namespace| namespace.owner.is_none());
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

    fn of(&self, project: &Project) -> Permissions {
        Permissions {
            project: self.projects.get(&project.id).copied(),
            group: self.groups.get(&project.namespace).copied(),
        }
    }
}
