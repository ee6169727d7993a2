//! The base trait and the error of all ports to files of projects.

use std::error::Error;
use std::io;

use crate::id::ProjectId;

/// Stores files of projects outside the transactions of the store. Files are removed after the transaction that deletes
/// their project is committed. If the removal is interrupted, the next start of the server removes the remaining files:
/// project ids are never reused, so files without a project row are safe to remove.
pub trait ProjectFiles: Send + Sync {
    /// The projects that have files, in no particular order. An implementation that creates files before the row of the
    /// project is committed leaves out recently created files, because their row may not be committed yet.
    fn projects(&self) -> Result<Box<dyn Iterator<Item = ProjectId>>, FilesError>;

    /// Removes all files of a project; does nothing when there are none. The files are gone for readers when the call
    /// returns; slow work is done in the background. The call cannot fail: a removal that is impossible now is logged
    /// and retried at the next start.
    fn remove_project(&self, project: ProjectId);

    /// Finishes work that was interrupted when the server stopped. Called at the start and then daily; may take long.
    fn remove_leftovers(&self) -> Result<(), FilesError>;
}

/// Reading or writing files failed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct FilesError(pub String, #[source] pub Box<dyn Error + Send + Sync>);

impl FilesError {
    /// Returns whether the storage was full. Writing works again as soon as there is room.
    pub fn is_full(&self) -> bool {
        self.1.downcast_ref::<io::Error>().is_some_and(is_storage_full)
    }

    /// Returns whether the file storage did not respond. A later attempt may succeed.
    pub fn is_unreachable(&self) -> bool {
        let is_unreachable = |error: &io::Error| error.kind() == io::ErrorKind::NotConnected;
        self.1.downcast_ref().is_some_and(is_unreachable)
    }
}

/// Returns whether an operation failed because the disk is full, or because a quota or the file size limit of the
/// process was exceeded.
pub fn is_storage_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_disks_and_unreachable_stores_are_distinguished_from_other_failures() {
        use io::ErrorKind::{NotConnected, NotFound, QuotaExceeded, StorageFull};
        for (kind, full, unreachable) in [
            (StorageFull, true, false),
            (QuotaExceeded, true, false),
            (NotConnected, false, true),
            (NotFound, false, false),
        ] {
            let error = FilesError("no file".into(), Box::new(io::Error::from(kind)));
            assert_eq!((error.is_full(), error.is_unreachable()), (full, unreachable), "{kind}");
        }
        let words = FilesError("no file".into(), "words alone".into());
        assert!(!words.is_full() && !words.is_unreachable());
    }
}
