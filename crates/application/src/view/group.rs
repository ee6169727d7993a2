//! Groups with what is inside them.

use hexforge_domain::namespace::Namespace;

use super::project::ProjectView;

/// A group in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupDetail {
    /// The group.
    pub group: Namespace,
    /// Those of its projects that the reader may see.
    pub projects: Vec<ProjectView>,
    /// Those projects shared with it that the reader may see.
    pub shared_projects: Vec<ProjectView>,
}
