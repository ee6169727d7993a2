//! The state machine of a merge request.
//!
//! The original service also had the state `locked` while a merge was running. Here a merge is one transaction, so no
//! reader sees a merge that has begun and not ended.

use crate::change::Change;
use crate::issue::IssueCommand;

/// The state of a merge request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeRequestState {
    /// Open since its creation.
    Opened,
    /// Open again after it was closed.
    Reopened,
    /// Closed without a merge.
    Closed,
    /// Merged. This state is final.
    Merged,
}

/// A change of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeRequestCommand {
    /// Close the request.
    Close,
    /// Reopen the request.
    Reopen,
    /// Record that the target branch contains the head of the request.
    Merge,
}

impl From<IssueCommand> for MergeRequestCommand {
    fn from(command: IssueCommand) -> Self {
        match command {
            IssueCommand::Close => MergeRequestCommand::Close,
            IssueCommand::Reopen => MergeRequestCommand::Reopen,
        }
    }
}

impl MergeRequestState {
    /// All states.
    pub const ALL: [MergeRequestState; 4] =
        [Self::Opened, Self::Reopened, Self::Closed, Self::Merged];

    /// Applies a command. A command that does not fit the state changes nothing.
    pub fn apply(self, command: MergeRequestCommand) -> Change<MergeRequestState> {
        use {MergeRequestCommand as Command, MergeRequestState as State};
        match (self, command) {
            (State::Opened | State::Reopened, Command::Close) => Change::Applied(State::Closed),
            (State::Opened | State::Reopened, Command::Merge) => Change::Applied(State::Merged),
            (State::Closed, Command::Reopen) => Change::Applied(State::Reopened),
            (State::Opened | State::Reopened, Command::Reopen)
            | (State::Closed, Command::Close | Command::Merge)
            | (State::Merged, Command::Close | Command::Reopen | Command::Merge) => {
                Change::Unchanged
            }
        }
    }

    /// Returns whether the request is open, reopened included.
    pub fn is_open(self) -> bool {
        match self {
            MergeRequestState::Opened | MergeRequestState::Reopened => true,
            MergeRequestState::Closed | MergeRequestState::Merged => false,
        }
    }

    /// The name of the state in the API and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            MergeRequestState::Opened => "opened",
            MergeRequestState::Reopened => "reopened",
            MergeRequestState::Closed => "closed",
            MergeRequestState::Merged => "merged",
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
    fn close_reopen_and_merge() {
        use {Change::*, MergeRequestCommand::*, MergeRequestState::*};
        for (state, command, expected) in [
            (Opened, Close, Applied(Closed)),
            (Opened, Reopen, Unchanged),
            (Opened, Merge, Applied(Merged)),
            (Reopened, Close, Applied(Closed)),
            (Reopened, Reopen, Unchanged),
            (Reopened, Merge, Applied(Merged)),
            (Closed, Close, Unchanged),
            (Closed, Reopen, Applied(Reopened)),
            (Closed, Merge, Unchanged),
            (Merged, Close, Unchanged),
            (Merged, Reopen, Unchanged),
            (Merged, Merge, Unchanged),
        ] {
            assert_eq!(state.apply(command), expected, "{state:?} on {command:?}");
        }
    }

    #[test]
    fn every_state_is_found_by_its_word() {
        let open = [true, true, false, false];
        for (state, open) in MergeRequestState::ALL.into_iter().zip(open) {
            assert_eq!(MergeRequestState::parse(state.as_str()), Some(state));
            assert_eq!(state.is_open(), open);
        }
        assert_eq!(MergeRequestState::parse("locked"), None);
    }
}
