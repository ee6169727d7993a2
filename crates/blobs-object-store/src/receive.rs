//! Receives uploads into local files, and stores them as objects at the end.

use std::io::{self, Write};
use std::path::Path;

use hexforge_domain::ports::files::FilesError;
use hexforge_domain::ports::uploads::NewFile;
use tempfile::NamedTempFile;

use crate::bucket::Bucket;

/// The step that makes a stored object visible.
pub(crate) type Publish = Box<dyn FnOnce() -> Result<(), FilesError> + Send>;

/// An upload that is received into a local file and then stored as an object.
pub(crate) struct PendingUpload {
    bucket: Bucket,
    key: String,
    /// `None` once the file is stored.
    file: Option<NamedTempFile>,
    publish: Option<Publish>,
}

impl PendingUpload {
    /// Starts an upload. Without [`Self::with_publish`] it is visible under its key as soon as it is stored.
    pub(crate) fn begin(bucket: &Bucket, scratch: &Path, key: String) -> Result<Self, FilesError> {
        let made = std::fs::create_dir_all(scratch).and_then(|()| NamedTempFile::new_in(scratch));
        let file = Some(made.map_err(|error| upload_error("created", error))?);
        Ok(Self { bucket: bucket.clone(), key, file, publish: None })
    }

    /// Adds a last step that makes the upload visible after it is stored.
    pub(crate) fn with_publish(self, publish: Publish) -> Self {
        Self { publish: Some(publish), ..self }
    }
}

impl NewFile for PendingUpload {
    fn append(&mut self, chunk: &[u8]) -> Result<(), FilesError> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.write_all(chunk).map_err(|error| upload_error("written", error))
    }

    fn prepare(&mut self) -> Result<(), FilesError> {
        let Some(mut file) = self.file.take() else { return Ok(()) };
        file.flush().map_err(|error| upload_error("written", error))?;
        let stored = self.bucket.put_file(&self.key, file.path());
        stored.map_err(|error| upload_error("stored", error.into()))
    }

    fn finish(mut self: Box<Self>) -> Result<(), FilesError> {
        self.prepare()?;
        match self.publish.take() {
            Some(publish) => publish(),
            None => Ok(()),
        }
    }
}

fn upload_error(what: &str, error: io::Error) -> FilesError {
    FilesError(format!("an uploaded file could not be {what}"), Box::new(error))
}
