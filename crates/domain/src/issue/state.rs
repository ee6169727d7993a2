//! Whether an issue is done.

use crate::change::Change;

/// The state of an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueState {
    /// To be done.
    Opened,
    /// To be done after all.
    Reopened,
    /// Done, or not to be done.
    Closed,
}

/// What may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueCommand {
    /// End it.
    Close,
    /// Take it up again.
    Reopen,
}

impl IssueState {
    /// All states.
    pub const ALL: [IssueState; 3] = [Self::Opened, Self::Reopened, Self::Closed];

    /// What becomes of the state.
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

    /// Whether it is to be done.
    pub fn is_open(self) -> bool {
        match self {
            IssueState::Opened | IssueState::Reopened => true,
            IssueState::Closed => false,
        }
    }

    /// The word for it in the interface and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            IssueState::Opened => "opened",
            IssueState::Reopened => "reopened",
            IssueState::Closed => "closed",
        }
    }

    /// The state of that word.
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
