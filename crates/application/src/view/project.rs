//! Projects with all related rows, in a bounded number of queries for any page size.

use std::collections::HashMap;

use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::member::{Membership, is_in_force};
use hexforge_domain::namespace::Namespace;
use hexforge_domain::outbox::ProjectFacts;
use hexforge_domain::outbox::project::ProjectCard;
use hexforge_domain::paging::Paged;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::share::Share;
use hexforge_domain::project::{BuildSettings, CoverageExpression, Description, Project};
use hexforge_domain::text::Secret;
use hexforge_domain::unique::sorted_unique;
use hexforge_domain::user::User;

use super::user::load_users;
use crate::access::Requester;

/// The namespace of a project and the owner of the namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The namespace of the project.
    pub namespace: Namespace,
    /// The user who owns the namespace; `None` for a group.
    pub owner: Option<User>,
}

impl Place {
    /// Returns the display name of the namespace: that of the group or of the user.
    pub fn human_name(&self) -> &str {
        match &self.owner {
            Some(owner) => owner.name.as_str(),
            None => &self.namespace.name,
        }
    }

    /// Returns the path of a project in this namespace, including the namespace.
    pub fn path_of(&self, project: &Project) -> String {
        format!("{}/{}", self.namespace.path.as_str(), project.path.as_str())
    }

    /// Returns the data about a project in this namespace for hook payloads.
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

/// A project with its namespace: everything that the short form shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedProject {
    /// The project.
    pub project: Project,
    /// The namespace of the project.
    pub place: Place,
}

impl PlacedProject {
    /// Returns the project as hook events show it.
    pub(crate) fn card(&self) -> ProjectCard {
        let project = &self.project;
        ProjectCard {
            id: project.id,
            name: project.name.as_str().to_owned(),
            description: project.description.clone().map(Description::into_string),
            namespace: self.place.namespace.name.clone(),
            path_with_namespace: self.place.path_of(project),
            visibility: project.visibility,
            avatar: project.avatar.clone(),
            default_branch: project.default_branch.as_ref().map(|name| name.as_str().to_owned()),
        }
    }
}

/// A project with all related rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectView {
    /// The project.
    pub project: Project,
    /// The namespace of the project.
    pub place: Place,
    /// The source of the fork, if it exists and the reader may see it.
    pub forked_from: Option<PlacedProject>,
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
pub fn placed(tx: &mut dyn Tx, project: Project) -> Result<PlacedProject, StoreError> {
    let page = placed_page(tx, Paged { items: vec![project], total: 1 })?;
    page.items.into_iter().next().ok_or(StoreError::Gone)
}

/// Adds the namespaces to a page of projects.
pub fn placed_page(
    tx: &mut dyn Tx,
    projects: Paged<Project>,
) -> Result<Paged<PlacedProject>, StoreError> {
    let places = Places::load(tx, &projects.items)?;
    let items = projects.items.into_iter().filter_map(|project| places.place(project)).collect();
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
    let ids: Vec<ProjectId> = projects.iter().map(|project| project.id).collect();
    let sources = readable_sources(tx, &projects, reader)?;
    let places = Places::load(tx, projects.iter().chain(&sources))?;
    let sources: HashMap<ProjectId, Project> =
        sources.into_iter().map(|source| (source.id, source)).collect();
    let mut shares: HashMap<ProjectId, Vec<Share>> = HashMap::new();
    for share in tx.shares().of_projects(&ids)? {
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
            permissions: memberships.as_ref().map(|known| known.permissions_in(&project)),
            place,
            runners_token: None,
            coverage_expression: None,
            build_settings: None,
            project,
        })
    };
    Ok(Paged { items: projects.into_iter().filter_map(view).collect(), total })
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
fn is_shown(share: &Share, place: &Place, reader: Requester) -> bool {
    is_in_force(share.share.expires_at, reader.today) && !place.namespace.share_with_group_lock
}

/// The namespaces of several projects.
struct Places {
    namespaces: HashMap<NamespaceId, Namespace>,
    owners: HashMap<UserId, User>,
}

impl Places {
    fn load<'a>(
        tx: &mut dyn Tx,
        projects: impl IntoIterator<Item = &'a Project>,
    ) -> Result<Self, StoreError> {
        let ids = sorted_unique(projects.into_iter().map(|project| project.namespace));
        let namespaces = tx.namespaces().find_all(&ids)?;
        let owners = load_users(tx, namespaces.iter().filter_map(|namespace| namespace.owner))?;
        let namespaces =
            namespaces.into_iter().map(|namespace| (namespace.id, namespace)).collect();
        Ok(Self { namespaces, owners })
    }

    /// Adds the namespace to a project. Never returns `None` in practice: every project has a namespace, and the
    /// namespaces of all projects were loaded before.
    fn place(&self, project: Project) -> Option<PlacedProject> {
        let namespace = self.namespaces.get(&project.namespace)?.clone();
        let owner = namespace.owner.and_then(|owner| self.owners.get(&owner).cloned());
        Some(PlacedProject { project, place: Place { namespace, owner } })
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
        places: &Places,
    ) -> Result<Self, StoreError> {
        // Personal namespaces have no members.
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

    fn permissions_in(&self, project: &Project) -> Permissions {
        Permissions {
            project: self.projects.get(&project.id).copied(),
            group: self.groups.get(&project.namespace).copied(),
        }
    }
}
