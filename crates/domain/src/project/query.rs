//! Which projects a list shows, and how.

use chrono::NaiveDate;

use crate::id::{NamespaceId, UserId};
use crate::visibility::Visibility;

/// Which projects a list shows. All conditions hold together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFilter {
    /// For whom.
    pub scope: ProjectScope,
    /// Only archived ones, or only others.
    pub archived: Option<bool>,
    /// Only those of this visibility.
    pub visibility: Option<Visibility>,
    /// A part of the path, name or description, or of the namespace's name, ignoring case.
    pub search: Option<String>,
    /// By what they are sorted, and then by id in the same direction.
    pub order: ProjectOrder,
    /// From the last to the first.
    pub descending: bool,
    /// Those with builds before the others.
    pub builds_first: bool,
    /// The day on which memberships and shares have to be in force.
    pub today: NaiveDate,
}

impl ProjectFilter {
    /// All projects of a scope, the newest first.
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

/// Which projects are there for somebody. A user is authorized for the projects in its own namespace,
/// those of which it is a member, those of groups of which it is a member, and those shared with such
/// groups. What has expired counts for nothing, and neither do shares of a project whose namespace
/// forbids them, whoever looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectScope {
    /// All there are.
    All,
    /// Those a user is authorized for.
    AuthorizedFor(UserId),
    /// Those and public ones, and internal ones unless the user is external.
    VisibleTo(Viewer),
    /// Those in the user's namespace and in groups the user owns.
    OwnedBy(UserId),
    /// Those the user starred and may see.
    StarredBy(Viewer),
    /// Those in a group and those shared with it; of both those that the viewer may see.
    OfGroup {
        /// The group.
        group: NamespaceId,
        /// Who looks.
        viewer: Audience,
    },
    /// Only those in a group, of these those that the viewer may see.
    InGroup {
        /// The group.
        group: NamespaceId,
        /// Who looks.
        viewer: Audience,
    },
    /// Only those shared with a group, of these those that the viewer may see.
    SharedWith {
        /// The group.
        group: NamespaceId,
        /// Who looks.
        viewer: Audience,
    },
}

/// For whom a list is made. An anonymous caller has no audience, so that nothing is listed for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// For somebody who may see everything in the scope of the list.
    Unrestricted,
    /// For a user, who is shown what it may see.
    Viewer(Viewer),
}

impl Audience {
    /// The user to whose sight the list is restricted.
    pub fn restricted_to(self) -> Option<Viewer> {
        match self {
            Self::Unrestricted => None,
            Self::Viewer(viewer) => Some(viewer),
        }
    }
}

/// Who looks at a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Viewer {
    /// The user.
    pub user: UserId,
    /// Whether internal things are hidden from it.
    pub external: bool,
}

/// By what projects are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectOrder {
    /// By id.
    Id,
    /// By name, byte by byte.
    Name,
    /// By path, byte by byte.
    Path,
    /// By the moment of creation.
    CreatedAt,
    /// By the last change.
    UpdatedAt,
    /// By the last activity.
    LastActivityAt,
}

impl ProjectOrder {
    /// The order of that word; what is none is the moment of creation.
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
