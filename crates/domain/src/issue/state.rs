//! The state machine of an issue.

use crate::change::Change;

/// The state of an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueState {
    /// Open since its creation.
    Opened,
    /// Open again after it was closed.
    Reopened,
    /// Closed: resolved or rejected.
    Closed,
}

/// A change of the state that a request may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueCommand {
    /// Close the issue.
    Close,
    /// Reopen the issue.
    Reopen,
}

impl IssueState {
    /// All states.
    pub const ALL: [IssueState; 3] = [Self::Opened, Self::Reopened, Self::Closed];

    /// Applies a command.
    pub fn apply(self, command: IssueCommand) -> Change<IssueState> {
        match (self, command) {
            (IssueState::Opened | IssueState::Reopened, IssueCommand::Close) => {
                Change::Applied(IssueState::Closed)
            }
            (IssueState::Closed, IssueCommand::Close) => Change::Unchanged,
            (IssueState::Closed, IssueCommand::Reopen) => Change::Applied(IssueState::Reopened),
            (IssueState::Opened | IssueState::Reopened, IssueCommand::Reopen) => Change::Unchanged,
        }
    }

    /// Returns whether the issue is open, reopened included.
    pub fn is_open(self) -> bool {
        match self {
            IssueState::Opened | IssueState::Reopened => true,
            IssueState::Closed => false,
        }
    }

    /// The name of the state in the API and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            IssueState::Opened => "opened",
            IssueState::Reopened => "reopened",
            IssueState::Closed => "closed",
        }
    }

    /// Parses the name of a state.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_and_reopen() {
        use {Change::*, IssueCommand::*, IssueState::*};
        for (state, command, expected) in [
            (Opened, Close, Applied(Closed)),
            (Reopened, Close, Applied(Closed)),
            (Closed, Close, Unchanged),
            (Closed, Reopen, Applied(Reopened)),
            (Opened, Reopen, Unchanged),
            (Reopened, Reopen, Unchanged),
        ] {
            assert_eq!(state.apply(command), expected, "{state:?} on {command:?}");
        }
    }

    #[test]
    fn every_state_is_found_by_its_word() {
        for (state, open) in IssueState::ALL.into_iter().zip([true, true, false]) {
            assert_eq!(IssueState::parse(state.as_str()), Some(state));
            assert_eq!(state.is_open(), open);
        }
        assert_eq!(IssueState::parse("open"), None);
    }
}
