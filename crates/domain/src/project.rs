//! Projects: repositories with their settings, members and features.

pub mod archive;
pub mod build_settings;
pub mod coverage;
pub mod features;
pub mod hook;
pub mod name;
pub mod port;
pub mod query;
pub mod share;
pub mod star;
pub mod upload;
pub mod with_namespace;

pub use archive::{ArchiveCommand, Archived};
pub use build_settings::{AdminSettings, BuildSettings, BuildTimeout};
pub use coverage::CoverageExpression;
pub use features::Features;
pub use name::{ProjectName, ProjectPath};
pub use star::Starred;
pub use with_namespace::{NamespaceWithOwner, ProjectWithNamespace};

use crate::Timestamp;
use crate::branch::BranchName;
use crate::id::{self, NamespaceId, ProjectId, UserId};
use crate::text::{Secret, Text, limit};
use crate::visibility::Visibility;

/// A project as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Assigned by the store, never reused.
    pub id: ProjectId,
    /// The namespace of the project.
    pub namespace: NamespaceId,
    /// The user who created it; `None` when that user was deleted.
    pub creator: Option<UserId>,
    /// The display name; unique in the namespace.
    pub name: ProjectName,
    /// The name in URLs; unique in the namespace, ignoring case.
    pub path: ProjectPath,
    /// A description of the project.
    pub description: Option<Description>,
    /// The visibility level.
    pub visibility: Visibility,
    /// Whether it is archived.
    pub archived: Archived,
    /// The enabled features.
    pub features: Features,
    /// How many users starred it.
    pub star_count: u32,
    /// The number of existing forks.
    pub forks_count: u32,
    /// The number of open issues.
    pub open_issues_count: u32,
    /// Whether an external issue tracker is active.
    pub external_tracker: bool,
    /// The project from which it was forked; `None` when it is no fork, or when that project was deleted.
    pub forked_from: Option<ProjectId>,
    /// The URL from which its repository is imported.
    pub import_url: Option<String>,
    /// The default branch, as of the last change of a branch; `None` while the repository is empty.
    pub default_branch: Option<BranchName>,
    /// The path of the avatar image in the default branch.
    pub avatar: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The time of the last activity in it.
    pub last_activity_at: Timestamp,
}

/// The fields of a project that permission checks need. Requests about its repository read only these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectHeader {
    /// See [`Project::id`].
    pub id: ProjectId,
    /// See [`Project::path`].
    pub path: ProjectPath,
    /// See [`Project::visibility`].
    pub visibility: Visibility,
    /// See [`Project::archived`].
    pub archived: Archived,
    /// See [`RepositoryState::version`](crate::refs::RepositoryState::version); 0 without a repository.
    pub repository_version: i64,
}

/// The description of a project, at most 2000 characters.
pub type Description = Text<{ limit::DESCRIPTION }>;

/// The data to create a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewProject {
    /// See [`Project::namespace`].
    pub namespace: NamespaceId,
    /// See [`Project::creator`].
    pub creator: UserId,
    /// See [`Project::name`].
    pub name: ProjectName,
    /// See [`Project::path`].
    pub path: ProjectPath,
    /// See [`Project::description`].
    pub description: Option<Description>,
    /// See [`Project::visibility`].
    pub visibility: Visibility,
    /// See [`Project::features`].
    pub features: Features,
    /// See [`Project::forked_from`].
    pub forked_from: Option<ProjectId>,
    /// The token with which runners register for the project.
    pub runners_token: Secret,
    /// See [`Project::import_url`].
    pub import_url: Option<String>,
    /// See [`Project::avatar`].
    pub avatar: Option<String>,
    /// The time of creation.
    pub at: Timestamp,
}

/// A reference to a project, as callers give it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProjectRef {
    /// By its id.
    Id(ProjectId),
    /// By the path of its namespace and its own path, ignoring case.
    Path {
        /// The path of the namespace.
        namespace: String,
        /// The path of the project.
        path: String,
    },
}

impl ProjectRef {
    /// Parses a reference: a text with a slash is a path, anything else an id. A text that is neither becomes the id 0,
    /// which no project has.
    pub fn parse(text: &str) -> Self {
        match text.split_once('/') {
            Some((namespace, path)) => {
                Self::Path { namespace: namespace.to_owned(), path: path.to_owned() }
            }
            None => Self::Id(ProjectId(id::parse(text).unwrap_or(0))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_makes_a_path() {
        let path = |namespace: &str, path: &str| ProjectRef::Path {
            namespace: namespace.to_owned(),
            path: path.to_owned(),
        };
        for (text, expected) in [
            ("42", ProjectRef::Id(ProjectId(42))),
            ("0042", ProjectRef::Id(ProjectId(42))),
            ("name", ProjectRef::Id(ProjectId(0))),
            ("99999999999999999999", ProjectRef::Id(ProjectId(0))),
            ("", ProjectRef::Id(ProjectId(0))),
            ("-1", ProjectRef::Id(ProjectId(0))),
            ("a.b/c.js", path("a.b", "c.js")),
            ("a/b/c", path("a", "b/c")),
        ] {
            assert_eq!(ProjectRef::parse(text), expected, "{text}");
        }
    }
}
