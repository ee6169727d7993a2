//! A project with its namespace and the owner of the namespace.

use super::{Description, Project};
use crate::namespace::Namespace;
use crate::outbox::ProjectFacts;
use crate::outbox::project::ProjectCard;
use crate::user::User;

/// The namespace of a project and the owner of the namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceWithOwner {
    /// The namespace of the project.
    pub namespace: Namespace,
    /// The user who owns the namespace; `None` for a group.
    pub owner: Option<User>,
}

impl NamespaceWithOwner {
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
pub struct ProjectWithNamespace {
    /// The project.
    pub project: Project,
    /// The namespace of the project.
    pub place: NamespaceWithOwner,
}

impl ProjectWithNamespace {
    /// Returns the project as hook events show it.
    pub fn card(&self) -> ProjectCard {
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
