//! What all ports to files of projects have in common.

use std::error::Error;
use std::io;

use crate::id::ProjectId;

/// Keeps files of projects, which no transaction covers. They are removed after the commit that removed
/// the project; what an interrupted removal left is found at the next start, because ids of projects are
/// never used again.
pub trait ProjectFiles: Send + Sync {
    /// The projects of which something is kept, in no particular order. Where files are made before the
    /// row of their project is committed, those too young to be sure of are left out.
    fn projects(&self) -> Result<Box<dyn Iterator<Item = ProjectId>>, FilesError>;

    /// Removes everything of a project. From the answer on nothing of it is found; what takes long is
    /// done in the background. Without anything of the project there is nothing to do. It does not fail:
    /// what cannot be removed now is told to whoever runs the program, and tried again at the next start.
    fn discard(&self, project: ProjectId);

    /// Finishes what an earlier run was interrupted in. Called at the start and then daily; it may take long.
    fn tidy(&self) -> Result<(), FilesError>;
}

/// Files could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct FilesError(pub String, #[source] pub Box<dyn Error + Send + Sync>);

impl FilesError {
    /// Whether there was no room to write to. It works again as soon as there is.
    pub fn is_full(&self) -> bool {
        self.1.downcast_ref::<io::Error>().is_some_and(is_no_room)
    }

    /// Returns whether the store of the files did not answer. Later it may.
    pub fn is_away(&self) -> bool {
        let is_away = |error: &io::Error| error.kind() == io::ErrorKind::NotConnected;
        self.1.downcast_ref().is_some_and(is_away)
    }
}

/// Whether a disk, a quota or a limit of the process leaves no room for a file.
pub fn is_no_room(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_disks_and_stores_that_do_not_answer_are_told_from_other_failures() {
        use io::ErrorKind::{NotConnected, NotFound, QuotaExceeded, StorageFull};
        for (kind, full, away) in [
            (StorageFull, true, false),
            (QuotaExceeded, true, false),
            (NotConnected, false, true),
            (NotFound, false, false),
        ] {
            let error = FilesError("no file".into(), Box::new(io::Error::from(kind)));
            assert_eq!((error.is_full(), error.is_away()), (full, away), "{kind}");
        }
        let words = FilesError("no file".into(), "words alone".into());
        assert!(!words.is_full() && !words.is_away());
    }
}
