//! Projects: what people work on.

pub mod archive;
pub mod coverage;
pub mod features;
pub mod hook;
pub mod name;
pub mod port;
pub mod query;
pub mod share;
pub mod star;
pub mod upload;

pub use archive::{ArchiveCommand, Archived};
pub use coverage::CoverageExpression;
pub use features::Features;
pub use name::{ProjectName, ProjectPath};
pub use star::Starred;

use crate::Timestamp;
use crate::branch::BranchName;
use crate::id::{NamespaceId, ProjectId, UserId};
use crate::text::{Secret, Text, limit};
use crate::visibility::Visibility;

/// A project as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Assigned by the store, never reused.
    pub id: ProjectId,
    /// Where it is.
    pub namespace: NamespaceId,
    /// Who made it; `None` when that user is gone.
    pub creator: Option<UserId>,
    /// For people; unique in the namespace.
    pub name: ProjectName,
    /// For addresses; unique in the namespace, ignoring case.
    pub path: ProjectPath,
    /// What it is about.
    pub description: Option<Description>,
    /// Who sees it.
    pub visibility: Visibility,
    /// Whether it is kept as it is.
    pub archived: Archived,
    /// What it offers.
    pub features: Features,
    /// How many users starred it.
    pub star_count: u32,
    /// How many projects were forked from it and still exist.
    pub forks_count: u32,
    /// How many of its issues are open.
    pub open_issues_count: u32,
    /// The project it was forked from, while that exists.
    pub forked_from: Option<ProjectId>,
    /// From where its repository is fetched.
    pub import_url: Option<String>,
    /// The branch that is shown when none is asked for, as it was after the last change of a branch; `None`
    /// while the repository is empty.
    pub default_branch: Option<BranchName>,
    /// The file of that branch that is its picture.
    pub avatar: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When something last happened in it.
    pub last_activity_at: Timestamp,
}

/// As much of a project as it takes to let somebody in: what calls about its repository read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectGate {
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

/// What a project is about, at most 2000 characters.
pub type Description = Text<{ limit::DESCRIPTION }>;

/// What is needed to make a project.
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
    /// By which runners register for it.
    pub runners_token: Secret,
    /// See [`Project::import_url`].
    pub import_url: Option<String>,
    /// See [`Project::avatar`].
    pub avatar: Option<String>,
    /// The moment of creation.
    pub at: Timestamp,
}

/// How a caller names a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProjectRef {
    /// By its id.
    Id(ProjectId),
    /// By the paths of its namespace and its own, ignoring case.
    Path {
        /// Of the namespace.
        namespace: String,
        /// Of the project.
        path: String,
    },
}

impl ProjectRef {
    /// A text with a slash is a path, anything else an id; what is neither names nothing.
    pub fn parse(text: &str) -> Self {
        match text.split_once('/') {
            Some((namespace, path)) => {
                Self::Path { namespace: namespace.to_owned(), path: path.to_owned() }
            }
            None => {
                let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
                Self::Id(ProjectId(if digits { text.parse().unwrap_or(0) } else { 0 }))
            }
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
