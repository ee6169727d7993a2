//! The outbox: what happened and the world may want to hear of, written in the transaction that
//! made it happen and sent later.

pub mod ci;
pub mod port;
pub mod project;

use crate::Timestamp;
use crate::id::{KeyId, NamespaceId, OutboxId, ProjectId, UserId};
use crate::member::AccessLevel;
use crate::namespace::Namespace;
use crate::push::Push;
use crate::user::{SshKey, User};
use crate::visibility::Visibility;
use project::ProjectEvent;

/// Something that happened to the service as a whole, or in one of its projects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SystemEvent {
    /// An account was made.
    UserCreated(UserFacts),
    /// An account was removed.
    UserDestroyed(UserFacts),
    /// A key was registered.
    KeyCreated(KeyFacts),
    /// A key was removed.
    KeyDestroyed(KeyFacts),
    /// A project was made.
    ProjectCreated(ProjectFacts),
    /// A project was removed.
    ProjectDestroyed(ProjectFacts),
    /// The path of a project changed; this was its whole path before.
    ProjectRenamed(ProjectFacts, String),
    /// A project moved to another namespace; this was its whole path before.
    ProjectTransferred(ProjectFacts, String),
    /// A user became a member of a project.
    TeamMemberAdded(TeamFacts),
    /// A user is no longer a member of a project.
    TeamMemberRemoved(TeamFacts),
    /// A group was made.
    GroupCreated(GroupFacts),
    /// A group was removed.
    GroupDestroyed(GroupFacts),
    /// A user became a member of a group.
    GroupMemberAdded(GroupMemberFacts),
    /// A user is no longer a member of a group.
    GroupMemberRemoved(GroupMemberFacts),
    /// A branch or tag was changed.
    Pushed(Box<Push>),
    /// Something happened in a project: for its hooks, and not for those of the service.
    InProject(Box<ProjectEvent>),
}

impl SystemEvent {
    /// In which project it happened, if that project's own hooks may hear of it.
    pub fn project(&self) -> Option<ProjectId> {
        match self {
            SystemEvent::Pushed(push) => Some(push.project.id),
            SystemEvent::InProject(event) => Some(event.project()),
            SystemEvent::UserCreated(_)
            | SystemEvent::UserDestroyed(_)
            | SystemEvent::KeyCreated(_)
            | SystemEvent::KeyDestroyed(_)
            | SystemEvent::ProjectCreated(_)
            | SystemEvent::ProjectDestroyed(_)
            | SystemEvent::ProjectRenamed(..)
            | SystemEvent::ProjectTransferred(..)
            | SystemEvent::TeamMemberAdded(_)
            | SystemEvent::TeamMemberRemoved(_)
            | SystemEvent::GroupCreated(_)
            | SystemEvent::GroupDestroyed(_)
            | SystemEvent::GroupMemberAdded(_)
            | SystemEvent::GroupMemberRemoved(_) => None,
        }
    }
}

/// What hooks are told about a user, kept because the user may be gone when they are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserFacts {
    /// See [`User::id`].
    pub id: UserId,
    /// See [`User::username`].
    pub username: String,
    /// See [`User::name`].
    pub name: String,
    /// See [`User::email`].
    pub email: String,
    /// See [`User::created_at`].
    pub created_at: Timestamp,
    /// See [`User::updated_at`].
    pub updated_at: Timestamp,
}

impl From<&User> for UserFacts {
    fn from(user: &User) -> Self {
        Self {
            id: user.id,
            username: user.username.as_str().to_owned(),
            name: user.name.as_str().to_owned(),
            email: user.email.as_str().to_owned(),
            created_at: user.created_at,
            updated_at: user.updated_at,
        }
    }
}

/// What hooks are told about a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFacts {
    /// See [`SshKey::id`].
    pub id: KeyId,
    /// See [`SshKey::key`].
    pub key: String,
    /// The name of the key's owner.
    pub username: String,
    /// See [`SshKey::created_at`].
    pub created_at: Timestamp,
}

impl KeyFacts {
    /// The facts about a key of a user.
    pub fn new(key: &SshKey, owner: &User) -> Self {
        Self {
            id: key.id,
            key: key.key.clone(),
            username: owner.username.as_str().to_owned(),
            created_at: key.created_at,
        }
    }
}

/// What hooks are told about a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFacts {
    /// Its id.
    pub id: ProjectId,
    /// Its name.
    pub name: String,
    /// Its own path.
    pub path: String,
    /// With that of its namespace.
    pub path_with_namespace: String,
    /// The name of the user or group that owns it.
    pub owner_name: String,
    /// The address of the user who owns it; empty for a group.
    pub owner_email: String,
    /// Who sees it.
    pub visibility: Visibility,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// What hooks are told about a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberFacts {
    /// The user's id.
    pub user: UserId,
    /// The user's username.
    pub username: String,
    /// The user's name.
    pub name: String,
    /// The user's primary address.
    pub email: String,
    /// What the member may do.
    pub access: AccessLevel,
    /// When the membership began or ended.
    pub at: Timestamp,
}

impl MemberFacts {
    /// The facts about a membership of a user.
    pub fn new(user: &User, access: AccessLevel, at: Timestamp) -> Self {
        Self {
            user: user.id,
            username: user.username.as_str().to_owned(),
            name: user.name.as_str().to_owned(),
            email: user.email.as_str().to_owned(),
            access,
            at,
        }
    }
}

/// What hooks are told about a member of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamFacts {
    /// The project.
    pub project: ProjectFacts,
    /// The member.
    pub member: MemberFacts,
}

/// What hooks are told about a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupFacts {
    /// Its id.
    pub id: NamespaceId,
    /// Its name.
    pub name: String,
    /// Its path.
    pub path: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl From<&Namespace> for GroupFacts {
    fn from(group: &Namespace) -> Self {
        Self {
            id: group.id,
            name: group.name.clone(),
            path: group.path.as_str().to_owned(),
            created_at: group.created_at,
            updated_at: group.updated_at,
        }
    }
}

/// What hooks are told about a member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMemberFacts {
    /// The group.
    pub group: GroupFacts,
    /// The member.
    pub member: MemberFacts,
}

/// A stored event that waits to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxEntry {
    /// Assigned by the store, growing with time.
    pub id: OutboxId,
    /// What happened.
    pub event: SystemEvent,
    /// When it happened.
    pub at: Timestamp,
}

/// Some of the stored events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutboxBatch {
    /// Those that could be read, oldest first.
    pub entries: Vec<OutboxEntry>,
    /// The last that was looked at, readable or not; none when there is none.
    pub last: Option<OutboxId>,
}
