//! Groups with their projects.

use hexforge_domain::namespace::Namespace;

use super::project::ProjectView;

/// A group with its projects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupDetail {
    /// The group.
    pub group: Namespace,
    /// The projects in the group that the reader may see.
    pub projects: Vec<ProjectView>,
    /// The projects shared with the group that the reader may see.
    pub shared_projects: Vec<ProjectView>,
}
