//! Access requests: a user asks to become a member of a group or project.

use crate::id::{NamespaceId, ProjectId};

/// The group or project that a user requests access to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestSource {
    /// A group.
    Group(NamespaceId),
    /// A project.
    Project(ProjectId),
}
