//! The port to uploaded files.

use std::io::Read;

use super::files::{FilesError, ProjectFiles};
use crate::project::upload::UploadPlace;

/// Keeps uploaded files.
pub trait Uploads: ProjectFiles {
    /// Begins a file. Nobody sees it before it is finished.
    fn begin(&self, place: &UploadPlace) -> Result<Box<dyn NewUpload>, FilesError>;

    /// The file at a place; `None` unless one was finished at exactly that place.
    fn open(&self, place: &UploadPlace) -> Result<Option<StoredUpload>, FilesError>;
}

/// A file that is being received. Dropped before it is finished, it leaves nothing behind.
pub trait NewUpload: Send {
    /// Adds to its end.
    fn append(&mut self, chunk: &[u8]) -> Result<(), FilesError>;

    /// Does the part of finishing it that takes long. Callers that finish it in a transaction call this before.
    fn prepare(&mut self) -> Result<(), FilesError> {
        Ok(())
    }

    /// Puts it in its place. Acknowledged means durable.
    fn finish(self: Box<Self>) -> Result<(), FilesError>;
}

/// A file that can be read. It stays readable when it is removed meanwhile, in an object store only its first MiB.
pub struct StoredUpload {
    /// In bytes.
    pub size: u64,
    /// All of it, from the beginning.
    pub content: Box<dyn Read + Send>,
}
