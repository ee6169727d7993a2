//! Shares of projects with groups.

use chrono::NaiveDate;

use crate::id::{NamespaceId, ProjectId, ShareId};
use crate::member::AccessLevel;

/// A share to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewShare {
    /// What is shared.
    pub project: ProjectId,
    /// With whom.
    pub group: NamespaceId,
    /// The most that the group's members may do there.
    pub access: AccessLevel,
    /// The day from which on the share is void.
    pub expires_at: Option<NaiveDate>,
}

/// A share as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// Assigned by the store.
    pub id: ShareId,
    /// What, with whom, how far.
    pub share: NewShare,
    /// The name of the group.
    pub group_name: String,
}
