//! Requests for access: who asks to become a member, and of what.

use crate::id::{NamespaceId, ProjectId};

/// What somebody asks to become a member of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestSource {
    /// A group.
    Group(NamespaceId),
    /// A project.
    Project(ProjectId),
}
