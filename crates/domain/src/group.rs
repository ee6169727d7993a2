//! Groups: namespaces with members.

pub mod name;
pub mod port;

pub use name::GroupName;

use crate::Timestamp;
use crate::id::{self, NamespaceId};
use crate::namespace::NamespacePath;
use crate::text::ShortText;
use crate::visibility::Visibility;

/// The data to create a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewGroup {
    /// Unique among users and groups, ignoring case.
    pub path: NamespacePath,
    /// The name shown to people; unique among groups.
    pub name: GroupName,
    /// A description of the group.
    pub description: ShortText,
    /// The visibility level.
    pub visibility: Visibility,
    /// Whether Git LFS is enabled; `None` uses the setting of the server.
    pub lfs_enabled: Option<bool>,
    /// Whether users who are not members may request access.
    pub request_access_enabled: bool,
    /// The time of creation.
    pub at: Timestamp,
}

/// A reference to a group, as callers give it: a path or an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupRef(String);

impl GroupRef {
    /// Wraps the text of the caller.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The reference as a path, which is tried first and is case-sensitive: a group with the path `42` hides the group
    /// with the id 42.
    pub fn as_path(&self) -> &str {
        &self.0
    }

    /// The reference as an id, which is tried second.
    pub fn as_id(&self) -> Option<NamespaceId> {
        id::parse(&self.0).map(NamespaceId)
    }
}

/// A filter for lists of groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupFilter {
    /// The set of groups from which the list is taken.
    pub scope: GroupScope,
    /// The ids of groups to leave out.
    pub skip: Vec<NamespaceId>,
    /// A substring of the name or path, ignoring case.
    pub search: Option<String>,
    /// The sort key.
    pub order: GroupOrder,
    /// Whether the order is reversed.
    pub descending: bool,
}

/// The set of groups from which a list is taken. Expired memberships do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupScope {
    /// All groups.
    All,
    /// The groups of which a user is a member.
    MemberOf(crate::id::UserId),
    /// The groups of which a user is a member, groups that contain a project for which the user is authorized, public
    /// groups, and internal groups unless the user is external.
    AvailableTo {
        /// The user.
        user: crate::id::UserId,
        /// Whether the user is external, so that internal projects and groups are hidden from the user.
        external: bool,
    },
}

/// The sort key of group lists. Ties are sorted by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupOrder {
    /// By name, byte by byte.
    Name,
    /// By path, byte by byte.
    Path,
}
