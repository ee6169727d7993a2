//! Whether a milestone is still worked for.

use crate::change::Change;

/// The state of a milestone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MilestoneState {
    /// It is worked for.
    Active,
    /// It is reached or given up.
    Closed,
}

/// What may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MilestoneCommand {
    /// End it.
    Close,
    /// Work for it again.
    Activate,
}

impl MilestoneState {
    /// What becomes of the state.
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

    /// The word for it in the interface and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            MilestoneState::Active => "active",
            MilestoneState::Closed => "closed",
        }
    }

    /// The state of that word.
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
