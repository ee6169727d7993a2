//! The state machine of starring a project.

use crate::change::Change;

/// Whether one user starred one project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starred {
    /// The user starred it.
    Yes,
    /// The user did not star it.
    No,
}

/// A command of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StarCommand {
    /// Star it.
    Star,
    /// Remove the star.
    Unstar,
}

impl Starred {
    /// The state after a command.
    pub fn apply(self, command: StarCommand) -> Change<Starred> {
        match (self, command) {
            (Starred::No, StarCommand::Star) => Change::Applied(Starred::Yes),
            (Starred::Yes, StarCommand::Star) => Change::Unchanged,
            (Starred::Yes, StarCommand::Unstar) => Change::Applied(Starred::No),
            (Starred::No, StarCommand::Unstar) => Change::Unchanged,
        }
    }

    /// The number of stars of the project after a user changed to this state.
    pub fn adjust_count(self, before: u32) -> u32 {
        match self {
            Starred::Yes => before.saturating_add(1),
            Starred::No => before.saturating_sub(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn star_and_unstar() {
        use {Change::*, StarCommand::*, Starred::*};
        for (state, command, expected) in [
            (No, Star, Applied(Yes)),
            (Yes, Star, Unchanged),
            (Yes, Unstar, Applied(No)),
            (No, Unstar, Unchanged),
        ] {
            assert_eq!(state.apply(command), expected, "{state:?} on {command:?}");
        }
    }

    #[test]
    fn a_star_counts_one() {
        for (state, before, after) in
            [(Starred::Yes, 0, 1), (Starred::Yes, 4, 5), (Starred::No, 5, 4), (Starred::No, 1, 0)]
        {
            assert_eq!(state.adjust_count(before), after, "{state:?} after {before}");
        }
    }
}
