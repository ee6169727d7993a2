//! The state machine of a milestone.

use crate::change::Change;

/// The state of a milestone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MilestoneState {
    /// Open: issues are still being worked on.
    Active,
    /// Reached or abandoned.
    Closed,
}

/// A change of the state that a request may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MilestoneCommand {
    /// Close the milestone.
    Close,
    /// Reopen the milestone.
    Activate,
}

impl MilestoneState {
    /// Applies a command.
    pub fn apply(self, command: MilestoneCommand) -> Change<MilestoneState> {
        match (self, command) {
            (MilestoneState::Active, MilestoneCommand::Close) => {
                Change::Applied(MilestoneState::Closed)
            }
            (MilestoneState::Closed, MilestoneCommand::Close) => Change::Unchanged,
            (MilestoneState::Closed, MilestoneCommand::Activate) => {
                Change::Applied(MilestoneState::Active)
            }
            (MilestoneState::Active, MilestoneCommand::Activate) => Change::Unchanged,
        }
    }

    /// The name of the state in the API and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            MilestoneState::Active => "active",
            MilestoneState::Closed => "closed",
        }
    }

    /// Parses the name of a state.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Active, Self::Closed].into_iter().find(|state| state.as_str() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_and_activate() {
        use {Change::*, MilestoneCommand::*, MilestoneState::*};
        for (state, command, expected) in [
            (Active, Close, Applied(Closed)),
            (Closed, Close, Unchanged),
            (Closed, Activate, Applied(Active)),
            (Active, Activate, Unchanged),
        ] {
            assert_eq!(state.apply(command), expected, "{state:?} on {command:?}");
            assert_eq!(MilestoneState::parse(state.as_str()), Some(state));
        }
        assert_eq!(MilestoneState::parse("all"), None);
    }
}
