//! The access policy. Every permission check is made here, on facts that were already loaded. Access is denied unless a
//! rule allows it.

pub mod award;
pub mod ci;
pub mod group;
pub mod lfs;
pub mod merge_request;
pub mod project;
pub mod push;
pub mod request;
pub mod runner;
pub mod snippet;
pub mod strict;
pub mod system;
pub mod tracker;
pub mod user;

use crate::id::UserId;
use crate::user::Privileges;

/// The caller of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A caller who is not signed in, or whose user is blocked.
    Anonymous,
    /// A signed-in user who is not an administrator.
    User {
        /// The id of the user.
        id: UserId,
        /// Whether the user is external, so that internal projects and groups are hidden from the user.
        external: bool,
    },
    /// An administrator.
    Admin {
        /// The id of the user.
        id: UserId,
    },
}

impl Actor {
    /// The operator at the command line of the server: an administrator without a user account.
    pub const OPERATOR: Actor = Actor::Admin { id: UserId(0) };

    /// The actor for a user with these privileges.
    pub fn of(id: UserId, privileges: &Privileges) -> Self {
        if privileges.admin {
            Actor::Admin { id }
        } else {
            Actor::User { id, external: privileges.external }
        }
    }

    /// The id of the user; `None` for an anonymous caller.
    pub fn user(self) -> Option<UserId> {
        match self {
            Actor::Anonymous => None,
            Actor::User { id, .. } | Actor::Admin { id } => Some(id),
        }
    }
}

/// A resource to which access is controlled, with all the facts that a decision needs.
pub trait Protected {
    /// The operations on the resource.
    type Ability: Copy;

    /// The ability to read. A caller without it must not learn that the resource exists.
    const READ: Self::Ability;

    /// Returns whether the rules allow the actor this ability.
    fn allows(&self, actor: Actor, ability: Self::Ability) -> bool;
}

/// How a caller is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// The caller has to sign in first.
    #[error("the caller is not signed in")]
    Unauthenticated,
    /// The caller must not learn that the resource exists.
    #[error("the resource is hidden from the caller")]
    Hidden,
    /// The caller may see the resource but not do this.
    #[error("the caller may not do this")]
    Forbidden,
}

/// Checks an ability and, if it is denied, chooses the refusal. This is the only place where that choice is made,
/// except for [LFS](lfs::LfsCaller), whose callers include builds and deploy keys.
pub fn authorize<R: Protected>(actor: Actor, ability: R::Ability, on: &R) -> Result<(), Denied> {
    match (on.allows(actor, ability), actor, on.allows(actor, R::READ)) {
        (true, _, _) => Ok(()),
        (false, Actor::Anonymous, _) => Err(Denied::Unauthenticated),
        (false, Actor::User { .. } | Actor::Admin { .. }, false) => Err(Denied::Hidden),
        (false, Actor::User { .. } | Actor::Admin { .. }, true) => Err(Denied::Forbidden),
    }
}
