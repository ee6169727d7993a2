//! The outbox: events that wait for delivery to hooks. An event is stored by the transaction that
//! makes the change, and is delivered later.

pub mod ci;
pub mod commit_note;
pub mod merge_request;
pub mod parts;
pub mod port;
pub mod project;
pub mod snippet_note;

use crate::Timestamp;
use crate::deploy_key::DeployKey;
use crate::id::{KeyId, NamespaceId, OutboxId, ProjectId, UserId};
use crate::member::AccessLevel;
use crate::namespace::Namespace;
use crate::push::Push;
use crate::user::{SshKey, User};
use crate::visibility::Visibility;
use project::ProjectEvent;

/// An event for hooks: a change in the whole service, or in one project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SystemEvent {
    /// A user was created.
    UserCreated(UserFacts),
    /// A user was deleted.
    UserDestroyed(UserFacts),
    /// An SSH key was added.
    KeyCreated(KeyFacts),
    /// An SSH key was deleted.
    KeyDestroyed(KeyFacts),
    /// A deploy key was added.
    DeployKeyCreated(DeployKeyFacts),
    /// A deploy key was deleted.
    DeployKeyDestroyed(DeployKeyFacts),
    /// A project was created.
    ProjectCreated(ProjectFacts),
    /// A project was deleted.
    ProjectDestroyed(ProjectFacts),
    /// The path of a project changed. The text is the previous full path.
    ProjectRenamed(ProjectFacts, String),
    /// A project was transferred to another namespace. The text is the previous full path.
    ProjectTransferred(ProjectFacts, String),
    /// A user became a member of a project.
    TeamMemberAdded(TeamFacts),
    /// A user is no longer a member of a project.
    TeamMemberRemoved(TeamFacts),
    /// A group was created.
    GroupCreated(GroupFacts),
    /// A group was deleted.
    GroupDestroyed(GroupFacts),
    /// A user became a member of a group.
    GroupMemberAdded(GroupMemberFacts),
    /// A user is no longer a member of a group.
    GroupMemberRemoved(GroupMemberFacts),
    /// A branch or tag was created, updated or deleted.
    Pushed(Box<Push>),
    /// An event in a project, for the hooks of the project and not for system hooks.
    InProject(Box<ProjectEvent>),
}

impl SystemEvent {
    /// The project whose hooks may receive the event; `None` for events that only system hooks
    /// receive.
    pub fn project(&self) -> Option<ProjectId> {
        match self {
            SystemEvent::Pushed(push) => Some(push.project.id),
            SystemEvent::InProject(event) => Some(event.project()),
            SystemEvent::UserCreated(_)
            | SystemEvent::UserDestroyed(_)
            | SystemEvent::KeyCreated(_)
            | SystemEvent::KeyDestroyed(_)
            | SystemEvent::DeployKeyCreated(_)
            | SystemEvent::DeployKeyDestroyed(_)
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

/// The data of a user in hook payloads. It is stored with the event because the user may be deleted
/// before the delivery.
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

/// The data of an SSH key in hook payloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFacts {
    /// See [`SshKey::id`].
    pub id: KeyId,
    /// See [`SshKey::key`].
    pub key: String,
    /// The username of the key's owner.
    pub username: String,
    /// See [`SshKey::created_at`].
    pub created_at: Timestamp,
}

impl KeyFacts {
    /// Combines a key and its owner.
    pub fn new(key: &SshKey, owner: &User) -> Self {
        Self {
            id: key.id,
            key: key.key.clone(),
            username: owner.username.as_str().to_owned(),
            created_at: key.created_at,
        }
    }
}

/// The data of a deploy key in hook payloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeployKeyFacts {
    /// See [`DeployKey::id`].
    pub id: KeyId,
    /// See [`DeployKey::key`].
    pub key: String,
    /// See [`DeployKey::created_at`].
    pub created_at: Timestamp,
}

impl From<&DeployKey> for DeployKeyFacts {
    fn from(key: &DeployKey) -> Self {
        Self { id: key.id, key: key.key.clone(), created_at: key.created_at }
    }
}

/// The data of a project in hook payloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFacts {
    /// Its id.
    pub id: ProjectId,
    /// Its name.
    pub name: String,
    /// The path in its namespace.
    pub path: String,
    /// The full path, with that of the namespace.
    pub path_with_namespace: String,
    /// The name of the user or group that owns it.
    pub owner_name: String,
    /// The e-mail address of the owning user; empty for a group.
    pub owner_email: String,
    /// The visibility level.
    pub visibility: Visibility,
    /// The creation time.
    pub created_at: Timestamp,
    /// The time of the last change.
    pub updated_at: Timestamp,
}

/// The data of a member in hook payloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberFacts {
    /// The user's id.
    pub user: UserId,
    /// The user's username.
    pub username: String,
    /// The user's name.
    pub name: String,
    /// The user's primary e-mail address.
    pub email: String,
    /// The access level.
    pub access: AccessLevel,
    /// When the membership began or ended.
    pub at: Timestamp,
}

impl MemberFacts {
    /// Combines a user and its access level.
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

/// The data of a member of a project in hook payloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamFacts {
    /// The project.
    pub project: ProjectFacts,
    /// The member.
    pub member: MemberFacts,
}

/// The data of a group in hook payloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupFacts {
    /// Its id.
    pub id: NamespaceId,
    /// Its name.
    pub name: String,
    /// Its path.
    pub path: String,
    /// The creation time.
    pub created_at: Timestamp,
    /// The time of the last change.
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

/// The data of a member of a group in hook payloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMemberFacts {
    /// The group.
    pub group: GroupFacts,
    /// The member.
    pub member: MemberFacts,
}

/// An event that waits for delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxEntry {
    /// Assigned by the store, increasing with time.
    pub id: OutboxId,
    /// What happened.
    pub event: SystemEvent,
    /// When it happened.
    pub at: Timestamp,
}

/// A batch of events from the outbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutboxBatch {
    /// The readable entries, oldest first.
    pub entries: Vec<OutboxEntry>,
    /// The id of the last row in the batch, readable or not; `None` when the batch is empty.
    pub last: Option<OutboxId>,
}
