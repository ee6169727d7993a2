//! The outbox: what happened and the world may want to hear of, written in the transaction that
//! made it happen and sent later.

pub mod port;

use crate::Timestamp;
use crate::id::{KeyId, OutboxId, UserId};
use crate::user::{SshKey, User};

/// Something that happened to the service as a whole.
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
