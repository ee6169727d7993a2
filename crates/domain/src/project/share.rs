//! Shares of projects with groups.

use chrono::NaiveDate;

use crate::id::{NamespaceId, ProjectId, ShareId};
use crate::member::AccessLevel;

/// A share to be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewShare {
    /// The shared project.
    pub project: ProjectId,
    /// The group with which it is shared.
    pub group: NamespaceId,
    /// The maximum access level of the group's members in the project.
    pub access: AccessLevel,
    /// The first day on which the share is no longer valid.
    pub expires_at: Option<NaiveDate>,
}

/// A share as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// Assigned by the store.
    pub id: ShareId,
    /// The project, the group, the access level and the expiry.
    pub share: NewShare,
    /// The name of the group.
    pub group_name: String,
}
