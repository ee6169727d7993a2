//! The state machine of archiving a project.

use crate::change::Change;

/// Whether a project is archived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Archived {
    /// The project is archived: nobody can push to it.
    Yes,
    /// The project is not archived.
    No,
}

/// A command of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveCommand {
    /// Archive the project.
    Archive,
    /// Unarchive the project.
    Unarchive,
}

impl Archived {
    /// The state after a command.
    pub fn apply(self, command: ArchiveCommand) -> Change<Archived> {
        match (self, command) {
            (Archived::No, ArchiveCommand::Archive) => Change::Applied(Archived::Yes),
            (Archived::Yes, ArchiveCommand::Archive) => Change::Unchanged,
            (Archived::Yes, ArchiveCommand::Unarchive) => Change::Applied(Archived::No),
            (Archived::No, ArchiveCommand::Unarchive) => Change::Unchanged,
        }
    }

    /// The state as a boolean, for the API and the store.
    pub fn as_bool(self) -> bool {
        match self {
            Archived::Yes => true,
            Archived::No => false,
        }
    }

    /// The state of a boolean from the store.
    pub fn from_bool(archived: bool) -> Self {
        if archived { Archived::Yes } else { Archived::No }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archive_and_unarchive() {
        use {ArchiveCommand::*, Archived::*, Change::*};
        for (state, command, expected) in [
            (No, Archive, Applied(Yes)),
            (Yes, Archive, Unchanged),
            (Yes, Unarchive, Applied(No)),
            (No, Unarchive, Unchanged),
        ] {
            assert_eq!(state.apply(command), expected, "{state:?} on {command:?}");
        }
    }
}
