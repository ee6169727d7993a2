//! Groups: namespaces that people share.

pub mod name;
pub mod port;

pub use name::GroupName;

use crate::Timestamp;
use crate::id::NamespaceId;
use crate::namespace::NamespacePath;
use crate::text::ShortText;
use crate::visibility::Visibility;

/// What is needed to make a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewGroup {
    /// Unique among users and groups, ignoring case.
    pub path: NamespacePath,
    /// For people; unique among groups.
    pub name: GroupName,
    /// What it is about.
    pub description: ShortText,
    /// Who sees it.
    pub visibility: Visibility,
    /// Whether large files are kept apart; `None` follows the server.
    pub lfs_enabled: Option<bool>,
    /// Whether strangers may ask to become members.
    pub request_access_enabled: bool,
    /// The moment of creation.
    pub at: Timestamp,
}

/// How a caller names a group: by its path, or by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupRef(String);

impl GroupRef {
    /// What the caller wrote.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Tried first, in exactly its case: a group of the path `42` hides the group of the id 42.
    pub fn as_path(&self) -> &str {
        &self.0
    }

    /// Tried second.
    pub fn as_id(&self) -> Option<NamespaceId> {
        let digits = !self.0.is_empty() && self.0.bytes().all(|b| b.is_ascii_digit());
        if digits { self.0.parse().ok().map(NamespaceId) } else { None }
    }
}

/// Which groups a list shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupFilter {
    /// For whom.
    pub scope: GroupScope,
    /// Ids to leave out.
    pub skip: Vec<NamespaceId>,
    /// A part of the name or path, ignoring case.
    pub search: Option<String>,
    /// By what they are sorted.
    pub order: GroupOrder,
    /// From the last to the first.
    pub descending: bool,
}

/// Which groups are there for somebody. Memberships that have expired count for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupScope {
    /// All there are.
    All,
    /// Those of which a user is a member.
    MemberOf(crate::id::UserId),
    /// Those, and the ones that own a project the user is authorized for, and public ones, and
    /// internal ones unless the user is external.
    AvailableTo {
        /// The user.
        user: crate::id::UserId,
        /// Whether internal things are hidden from it.
        external: bool,
    },
}

/// By what groups are sorted, and then by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupOrder {
    /// By name, byte by byte.
    Name,
    /// By path, byte by byte.
    Path,
}
