//! The port to uploaded files.

use std::io::Read;

use super::files::{FilesError, ProjectFiles};
use crate::project::upload::UploadKey;

/// Stores uploaded files.
pub trait Uploads: ProjectFiles {
    /// Begins an upload. The file is invisible until the upload is finished.
    fn begin(&self, key: &UploadKey) -> Result<Box<dyn NewFile>, FilesError>;

    /// Opens the file with a key; `None` unless an upload was finished with exactly that key.
    fn open(&self, key: &UploadKey) -> Result<Option<StoredFile>, FilesError>;
}

/// A file that is being uploaded. If it is dropped before it is finished, it leaves nothing behind.
pub trait NewFile: Send {
    /// Appends a chunk to the file.
    fn append(&mut self, chunk: &[u8]) -> Result<(), FilesError>;

    /// Does the slow part of finishing. A caller that finishes the upload inside a transaction calls this before the
    /// transaction begins.
    fn prepare(&mut self) -> Result<(), FilesError> {
        Ok(())
    }

    /// Moves the file to its final place. On success the file is durable.
    fn finish(self: Box<Self>) -> Result<(), FilesError>;
}

/// A stored file that can be read. If the file is removed meanwhile, it stays readable in a local folder; in an object
/// store only its first MiB stays readable.
pub struct StoredFile {
    /// The size in bytes.
    pub size: u64,
    /// The whole content, from the beginning.
    pub content: Box<dyn Read + Send>,
}
