//! The base trait and the error of all ports to files of projects.

use std::error::Error;
use std::io;

use crate::id::ProjectId;

/// Stores files of projects outside the transactions of the store. Files are removed after the commit that removed
/// their project. The next start finds the files that an interrupted removal left behind, because project ids are never
/// reused.
pub trait ProjectFiles: Send + Sync {
    /// The projects that have files, in no particular order. Where files are created before the row of their project is
    /// committed, recently created ones are left out, because their row may not be committed yet.
    fn projects(&self) -> Result<Box<dyn Iterator<Item = ProjectId>>, FilesError>;

    /// Removes all files of a project; does nothing when there are none. The files are gone for readers when the call
    /// returns; slow work is done in the background. The call cannot fail: a removal that is impossible now is logged
    /// and retried at the next start.
    fn discard(&self, project: ProjectId);

    /// Finishes work in which an earlier run was interrupted. Called at the start and then daily; may take long.
    fn tidy(&self) -> Result<(), FilesError>;
}

/// Reading or writing files failed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct FilesError(pub String, #[source] pub Box<dyn Error + Send + Sync>);

impl FilesError {
    /// Returns whether the storage was full. Writing works again as soon as there is room.
    pub fn is_full(&self) -> bool {
        self.1.downcast_ref::<io::Error>().is_some_and(is_no_room)
    }

    /// Returns whether the file storage did not respond. A later attempt may succeed.
    pub fn is_away(&self) -> bool {
        let is_away = |error: &io::Error| error.kind() == io::ErrorKind::NotConnected;
        self.1.downcast_ref().is_some_and(is_away)
    }
}

/// Returns whether the disk, a quota or a limit of the process leaves no room for a file.
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
