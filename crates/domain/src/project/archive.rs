//! Whether a project is kept as it is.

use crate::change::Change;

/// The state of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Archived {
    /// Nothing is pushed to it any more.
    Yes,
    /// It is worked on.
    No,
}

/// What an owner may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveCommand {
    /// Keep it as it is.
    Archive,
    /// Work on it again.
    Unarchive,
}

impl Archived {
    /// What becomes of the state.
    pub fn apply(self, command: ArchiveCommand) -> Change<Archived> {
        match (self, command) {
            (Archived::No, ArchiveCommand::Archive) => Change::Applied(Archived::Yes),
            (Archived::Yes, ArchiveCommand::Archive) => Change::Unchanged,
            (Archived::Yes, ArchiveCommand::Unarchive) => Change::Applied(Archived::No),
            (Archived::No, ArchiveCommand::Unarchive) => Change::Unchanged,
        }
    }

    /// As the interface and the store say it.
    pub fn as_bool(self) -> bool {
        match self {
            Archived::Yes => true,
            Archived::No => false,
        }
    }

    /// From what the store says.
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
