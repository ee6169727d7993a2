//! The rules for operations on the service as a whole.

use super::{Actor, Protected};

/// The service itself.
pub struct Service;

/// The operations on the service as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceAbility {
    /// Call the API as a signed-in user.
    Use,
    /// Manage system hooks, see all projects, act for other users.
    Administer,
    /// Give a project, group or snippet a visibility level that the settings restrict.
    UseRestrictedLevels,
}

impl Protected for Service {
    type Ability = ServiceAbility;
    const READ: ServiceAbility = ServiceAbility::Use;

    fn allows(&self, actor: Actor, ability: ServiceAbility) -> bool {
        match (ability, actor) {
            (ServiceAbility::Use, Actor::User { .. } | Actor::Admin { .. }) => true,
            (
                ServiceAbility::Administer | ServiceAbility::UseRestrictedLevels,
                Actor::Admin { .. },
            ) => true,
            (
                ServiceAbility::Administer | ServiceAbility::UseRestrictedLevels,
                Actor::User { .. },
            ) => false,
            (
                ServiceAbility::Use
                | ServiceAbility::Administer
                | ServiceAbility::UseRestrictedLevels,
                Actor::Anonymous,
            ) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Denied, authorize};
    use super::*;
    use crate::id::UserId;

    #[test]
    fn the_whole_matrix_of_the_service() {
        use ServiceAbility::*;
        let user = Actor::User { id: UserId(2), external: false };
        let admin = Actor::Admin { id: UserId(1) };
        for (actor, ability, expected) in [
            (Actor::Anonymous, Use, Err(Denied::Unauthenticated)),
            (Actor::Anonymous, Administer, Err(Denied::Unauthenticated)),
            (user, Use, Ok(())),
            (user, Administer, Err(Denied::Forbidden)),
            (user, UseRestrictedLevels, Err(Denied::Forbidden)),
            (admin, UseRestrictedLevels, Ok(())),
            (Actor::Anonymous, UseRestrictedLevels, Err(Denied::Unauthenticated)),
            (admin, Use, Ok(())),
            (admin, Administer, Ok(())),
        ] {
            assert_eq!(authorize(actor, ability, &Service), expected, "{actor:?} {ability:?}");
        }
    }
}
