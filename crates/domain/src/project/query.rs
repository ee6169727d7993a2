//! Filters and orders of project lists.

use chrono::NaiveDate;

use crate::id::{NamespaceId, ProjectId, UserId};
use crate::visibility::Visibility;

/// A filter for lists of projects. All conditions have to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFilter {
    /// The set of projects from which the list is taken.
    pub scope: ProjectScope,
    /// Only archived projects, or only projects that are not archived.
    pub archived: Option<bool>,
    /// Only projects of this visibility level.
    pub visibility: Option<Visibility>,
    /// A substring of the path, name or description, or of the namespace's name, ignoring case.
    pub search: Option<String>,
    /// The sort key. Ties are sorted by id, in the same direction.
    pub order: ProjectOrder,
    /// Whether the order is reversed.
    pub descending: bool,
    /// Whether projects with builds come before the others.
    pub builds_first: bool,
    /// The day on which memberships and shares have to be valid.
    pub today: NaiveDate,
}

impl ProjectFilter {
    /// All projects of a scope, newest first.
    pub fn newest_first(scope: ProjectScope, today: NaiveDate) -> Self {
        Self {
            scope,
            archived: None,
            visibility: None,
            search: None,
            order: ProjectOrder::Id,
            descending: true,
            builds_first: false,
            today,
        }
    }
}

/// The set of projects from which a list is taken.
///
/// A user is authorized for these projects: those in the user's own namespace, those of which the user is a member,
/// those of groups of which the user is a member, and those shared with these groups. Expired memberships and shares do
/// not count. Shares of a project whose namespace forbids sharing do not count either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectScope {
    /// All projects.
    All,
    /// The projects for which a user is authorized.
    AuthorizedFor(UserId),
    /// The projects for which a user is authorized, public projects, and internal projects unless the user is external.
    VisibleTo(Viewer),
    /// The projects in the user's namespace and in groups that the user owns.
    OwnedBy(UserId),
    /// The projects that the user starred and may see.
    StarredBy(Viewer),
    /// The projects in a group and those shared with it, as far as the viewer may see them.
    OfGroup {
        /// The group.
        group: NamespaceId,
        /// The user who requests the list.
        viewer: ListAudience,
    },
    /// Only the projects in a group, as far as the viewer may see them.
    InGroup {
        /// The group.
        group: NamespaceId,
        /// The user who requests the list.
        viewer: ListAudience,
    },
    /// Only the projects shared with a group, as far as the viewer may see them.
    SharedWith {
        /// The group.
        group: NamespaceId,
        /// The user who requests the list.
        viewer: ListAudience,
    },
    /// The direct forks of a project, as far as the viewer may see them.
    ForksOf {
        /// The project.
        source: ProjectId,
        /// The user who requests the list.
        viewer: ListAudience,
    },
}

/// The user for whom a list is made. There is no variant for anonymous callers, so nothing can be listed for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListAudience {
    /// A user who may see everything in the scope of the list.
    Unrestricted,
    /// A user who is shown only the projects that the user may see.
    Viewer(Viewer),
}

impl ListAudience {
    /// The user to whose visible projects the list is restricted; `None` for an unrestricted list.
    pub fn restricted_to(self) -> Option<Viewer> {
        match self {
            Self::Unrestricted => None,
            Self::Viewer(viewer) => Some(viewer),
        }
    }
}

/// The user who requests a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Viewer {
    /// The user.
    pub user: UserId,
    /// Whether the user is external, so that internal projects and groups are hidden from the user.
    pub external: bool,
}

/// The sort key of project lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectOrder {
    /// By id.
    Id,
    /// By name, byte by byte.
    Name,
    /// By path, byte by byte.
    Path,
    /// By the time of creation.
    CreatedAt,
    /// By the time of the last change.
    UpdatedAt,
    /// By the time of the last activity.
    LastActivityAt,
    /// By the number of stars.
    Stars,
}

impl ProjectOrder {
    /// Parses an `order_by` value. An unknown or missing value means the time of creation.
    pub fn parse(word: Option<&str>) -> Self {
        match word {
            Some("id") => Self::Id,
            Some("name") => Self::Name,
            Some("path") => Self::Path,
            Some("updated_at") => Self::UpdatedAt,
            Some("last_activity_at") => Self::LastActivityAt,
            Some(_) | None => Self::CreatedAt,
        }
    }
}
