//! Who may do what. Every decision about access is made here, on facts already loaded, and denied
//! unless a rule allows it.

pub mod ci;
pub mod group;
pub mod project;
pub mod push;
pub mod request;
pub mod strict;
pub mod system;
pub mod tracker;
pub mod user;

use crate::id::UserId;
use crate::user::Privileges;

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// Nobody known, which includes blocked users.
    Anonymous,
    /// A user without special rights.
    User {
        /// Which one.
        id: UserId,
        /// Whether internal things are hidden from it.
        external: bool,
    },
    /// An administrator.
    Admin {
        /// Which one.
        id: UserId,
    },
}

impl Actor {
    /// The person at the command line of the server: an administrator who is no user.
    pub const OPERATOR: Actor = Actor::Admin { id: UserId(0) };

    /// The actor that a user with these privileges is.
    pub fn of(id: UserId, privileges: &Privileges) -> Self {
        if privileges.admin {
            Actor::Admin { id }
        } else {
            Actor::User { id, external: privileges.external }
        }
    }

    /// The user behind the actor.
    pub fn user(self) -> Option<UserId> {
        match self {
            Actor::Anonymous => None,
            Actor::User { id, .. } | Actor::Admin { id } => Some(id),
        }
    }
}

/// Something that access is decided about, with all the facts the decision needs.
pub trait Protected {
    /// What can be done with it.
    type Ability: Copy;

    /// The ability without which the thing does not even seem to exist.
    const READ: Self::Ability;

    /// Whether the rules allow it.
    fn allows(&self, actor: Actor, ability: Self::Ability) -> bool;
}

/// How a caller is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// The caller has to say who it is first.
    #[error("the caller is not known")]
    Unauthenticated,
    /// The caller may not learn that the thing exists.
    #[error("the thing is hidden from the caller")]
    Hidden,
    /// The caller sees the thing and may not do this.
    #[error("the caller may not do this")]
    Forbidden,
}

/// Which refusal a caller sees is decided here and nowhere else.
pub fn authorize<R: Protected>(actor: Actor, ability: R::Ability, on: &R) -> Result<(), Denied> {
    match (on.allows(actor, ability), actor, on.allows(actor, R::READ)) {
        (true, _, _) => Ok(()),
        (false, Actor::Anonymous, _) => Err(Denied::Unauthenticated),
        (false, Actor::User { .. } | Actor::Admin { .. }, false) => Err(Denied::Hidden),
        (false, Actor::User { .. } | Actor::Admin { .. }, true) => Err(Denied::Forbidden),
    }
}
