//! The port to uploaded files.

use std::io::Read;

use super::files::{FilesError, ProjectFiles};
use crate::project::upload::UploadPlace;

/// Stores uploaded files.
pub trait Uploads: ProjectFiles {
    /// Begins an upload. The file is invisible until the upload is finished.
    fn begin(&self, place: &UploadPlace) -> Result<Box<dyn NewUpload>, FilesError>;

    /// Opens the file at a place; `None` unless an upload was finished at exactly that place.
    fn open(&self, place: &UploadPlace) -> Result<Option<StoredUpload>, FilesError>;
}

/// A file that is being uploaded. Dropped before it is finished, it leaves nothing behind.
pub trait NewUpload: Send {
    /// Appends a chunk to the file.
    fn append(&mut self, chunk: &[u8]) -> Result<(), FilesError>;

    /// Does the slow part of finishing. Callers that finish the upload inside a transaction call this before the
    /// transaction.
    fn prepare(&mut self) -> Result<(), FilesError> {
        Ok(())
    }

    /// Moves the file to its final place. On success the file is durable.
    fn finish(self: Box<Self>) -> Result<(), FilesError>;
}

/// A stored file that can be read. It stays readable if it is removed meanwhile; in an object store only its first MiB
/// does.
pub struct StoredUpload {
    /// The size in bytes.
    pub size: u64,
    /// The whole content, from the beginning.
    pub content: Box<dyn Read + Send>,
}
