//! The state machine of blocking an account.

use crate::change::Change;

/// The state of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UserState {
    /// The account can be used.
    Active,
    /// Blocked by an administrator.
    Blocked,
    /// Blocked by directory synchronisation. Only the synchronisation can unblock the account.
    DirectoryBlocked,
}

/// A command of an administrator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserCommand {
    /// Block the account: none of its tokens and passwords is accepted any more.
    Block,
    /// Unblock the account: its tokens and passwords are accepted again.
    Unblock,
}

/// A command of the directory synchronisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectoryCommand {
    /// The person left the directory.
    Block,
    /// The person is in the directory again.
    Unblock,
}

/// The account was blocked by the directory, so an administrator cannot change its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the user was blocked by directory synchronisation")]
pub struct ManagedByDirectory;

impl UserState {
    /// The state after a command of an administrator.
    pub fn apply(self, command: UserCommand) -> Result<Change<UserState>, ManagedByDirectory> {
        match (self, command) {
            (UserState::Active, UserCommand::Block) => Ok(Change::Applied(UserState::Blocked)),
            (UserState::Blocked, UserCommand::Unblock) => Ok(Change::Applied(UserState::Active)),
            (UserState::Active, UserCommand::Unblock) => Ok(Change::Unchanged),
            (UserState::Blocked, UserCommand::Block) => Ok(Change::Unchanged),
            (UserState::DirectoryBlocked, UserCommand::Block | UserCommand::Unblock) => {
                Err(ManagedByDirectory)
            }
        }
    }

    /// The state after a command of the directory. A block by an administrator stays as it is: the directory can
    /// neither lift it nor turn it into its own.
    pub fn apply_directory(self, command: DirectoryCommand) -> Change<UserState> {
        match (self, command) {
            (UserState::Active, DirectoryCommand::Block) => {
                Change::Applied(UserState::DirectoryBlocked)
            }
            (UserState::DirectoryBlocked, DirectoryCommand::Unblock) => {
                Change::Applied(UserState::Active)
            }
            (UserState::Active, DirectoryCommand::Unblock) => Change::Unchanged,
            (UserState::DirectoryBlocked, DirectoryCommand::Block) => Change::Unchanged,
            (UserState::Blocked, DirectoryCommand::Block | DirectoryCommand::Unblock) => {
                Change::Unchanged
            }
        }
    }

    /// Returns whether a user in this state may act. A user who may not is treated as anonymous.
    pub fn may_act(self) -> bool {
        match self {
            UserState::Active => true,
            UserState::Blocked | UserState::DirectoryBlocked => false,
        }
    }

    /// The name of the state in the API and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            UserState::Active => "active",
            UserState::Blocked => "blocked",
            UserState::DirectoryBlocked => "ldap_blocked",
        }
    }

    /// Parses the name of a state.
    pub fn parse(word: &str) -> Option<Self> {
        [UserState::Active, UserState::Blocked, UserState::DirectoryBlocked]
            .into_iter()
            .find(|state| state.as_str() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use {Change::*, UserState::*};

    #[test]
    fn block_and_unblock() {
        use UserCommand::*;
        for (state, command, expected) in [
            (Active, Block, Ok(Applied(Blocked))),
            (Active, Unblock, Ok(Unchanged)),
            (Blocked, Block, Ok(Unchanged)),
            (Blocked, Unblock, Ok(Applied(Active))),
            (DirectoryBlocked, Block, Err(ManagedByDirectory)),
            (DirectoryBlocked, Unblock, Err(ManagedByDirectory)),
        ] {
            assert_eq!(state.apply(command), expected, "{state:?} on {command:?}");
        }
    }

    #[test]
    fn the_directory_blocks_and_unblocks_only_its_own() {
        use DirectoryCommand::*;
        for (state, command, expected) in [
            (Active, Block, Applied(DirectoryBlocked)),
            (Active, Unblock, Unchanged),
            (Blocked, Block, Unchanged),
            (Blocked, Unblock, Unchanged),
            (DirectoryBlocked, Block, Unchanged),
            (DirectoryBlocked, Unblock, Applied(Active)),
        ] {
            assert_eq!(state.apply_directory(command), expected, "{state:?} on {command:?}");
        }
    }

    #[test]
    fn every_state_has_its_word() {
        for (state, word, acts) in [
            (Active, "active", true),
            (Blocked, "blocked", false),
            (DirectoryBlocked, "ldap_blocked", false),
        ] {
            assert_eq!(state.as_str(), word);
            assert_eq!(UserState::parse(word), Some(state));
            assert_eq!(state.may_act(), acts);
        }
        assert_eq!(UserState::parse("gone"), None);
    }
}
