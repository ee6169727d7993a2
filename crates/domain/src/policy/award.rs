//! The rules about awards.

use super::Actor;

/// The facts for decisions about an award on a target that the actor sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AwardFacts {
    /// Whether the actor gave it.
    pub given_by_actor: bool,
}

impl AwardFacts {
    /// Returns whether the actor may delete the award: users may delete their own awards, administrators all.
    pub fn may_be_deleted_by(self, actor: Actor) -> bool {
        match actor {
            Actor::Anonymous => false,
            Actor::User { .. } => self.given_by_actor,
            Actor::Admin { .. } => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::UserId;

    #[test]
    fn givers_and_administrators_delete_awards() {
        let user = |external| Actor::User { id: UserId(2), external };
        for (actor, of_others, own) in [
            (Actor::Anonymous, false, false),
            (user(false), false, true),
            (user(true), false, true),
            (Actor::Admin { id: UserId(1) }, true, true),
        ] {
            for (given_by_actor, expected) in [(false, of_others), (true, own)] {
                let facts = AwardFacts { given_by_actor };
                assert_eq!(facts.may_be_deleted_by(actor), expected, "{actor:?} {given_by_actor}");
            }
        }
    }
}
