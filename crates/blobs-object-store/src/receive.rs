//! A file that is being received, and is stored as an object at its end.

use std::io::{self, Write};
use std::path::Path;

use hexforge_domain::ports::files::FilesError;
use hexforge_domain::ports::uploads::NewUpload;
use tempfile::NamedTempFile;

use crate::bucket::Bucket;

/// A file of this machine until it is finished.
pub(crate) struct Receiving {
    bucket: Bucket,
    key: String,
    file: NamedTempFile,
}

impl Receiving {
    pub(crate) fn begin(
        bucket: &Bucket,
        scratch: &Path,
        key: String,
    ) -> Result<Box<dyn NewUpload>, FilesError> {
        let made = std::fs::create_dir_all(scratch).and_then(|()| NamedTempFile::new_in(scratch));
        let file = made.map_err(|error| failed("begun", error))?;
        Ok(Box::new(Self { bucket: bucket.clone(), key, file }))
    }
}

impl NewUpload for Receiving {
    fn append(&mut self, chunk: &[u8]) -> Result<(), FilesError> {
        self.file.write_all(chunk).map_err(|error| failed("written", error))
    }

    fn finish(mut self: Box<Self>) -> Result<(), FilesError> {
        self.file.flush().map_err(|error| failed("written", error))?;
        let stored = self.bucket.put_file(&self.key, self.file.path());
        stored.map_err(|error| failed("stored", error.into()))
    }
}

fn failed(what: &str, error: io::Error) -> FilesError {
    FilesError(format!("a received file could not be {what}"), Box::new(error))
}
