//! Uploaded files in an object store.

use std::path::Path;

use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::files::{FilesError, ProjectFiles};
use hexforge_domain::ports::uploads::{NewUpload, StoredUpload, Uploads};
use hexforge_domain::project::upload::{UploadName, UploadPlace, UploadSecret};

use crate::bucket::Bucket;
use crate::project_files::Shelf;
use crate::read::Pieces;
use crate::receive::Receiving;

/// Keeps uploaded files in an object store.
pub struct BucketUploads(Shelf);

impl BucketUploads {
    /// The uploaded files of a store. Files are in the folder `scratch` while they are received.
    pub fn new(bucket: Bucket, scratch: &Path) -> Self {
        Self(Shelf::new(bucket, "uploads", scratch))
    }

    /// Calls `visit` with each file of a project until `visit` fails.
    pub fn each<E: From<FilesError>>(
        &self,
        project: ProjectId,
        visit: &mut dyn FnMut(UploadPlace, StoredUpload) -> Result<(), E>,
    ) -> Result<(), E> {
        let found = self.0.bucket.list(&self.0.of(project));
        for stored in found.map_err(|error| error.into_files_error("files cannot be listed"))? {
            let mut parts = stored.key.rsplit('/');
            let (name, secret) = (parts.next().and_then(from_hex), parts.next());
            let secret = secret.and_then(UploadSecret::parse);
            let (Some(name), Some(secret)) = (name, secret) else { continue };
            let place = UploadPlace { project, secret, name: UploadName::from_given(&name) };
            // A file may be removed meanwhile.
            if let Some(file) = open(&self.0.bucket, &stored.key)? {
                visit(place, file)?;
            }
        }
        Ok(())
    }

    fn key(&self, place: &UploadPlace) -> String {
        let name: String = place.name.as_str().bytes().map(|byte| format!("{byte:02x}")).collect();
        format!("{}/{}/{name}", self.0.of(place.project), place.secret.as_str())
    }
}

impl ProjectFiles for BucketUploads {
    fn projects(&self) -> Result<Box<dyn Iterator<Item = ProjectId>>, FilesError> {
        self.0.projects()
    }

    fn discard(&self, project: ProjectId) {
        self.0.discard(project);
    }

    fn tidy(&self) -> Result<(), FilesError> {
        // A file that is not finished is no object.
        Ok(())
    }
}

impl Uploads for BucketUploads {
    fn begin(&self, place: &UploadPlace) -> Result<Box<dyn NewUpload>, FilesError> {
        Receiving::begin(&self.0.bucket, &self.0.scratch, self.key(place))
    }

    fn open(&self, place: &UploadPlace) -> Result<Option<StoredUpload>, FilesError> {
        open(&self.0.bucket, &self.key(place))
    }
}

/// The text whose bytes these hex digits are.
fn from_hex(digits: &str) -> Option<String> {
    let digit = |digit: &u8| char::from(*digit).to_digit(16);
    let byte = |pair: &[u8]| match pair {
        [high, low] => u8::try_from(digit(high)? << 4 | digit(low)?).ok(),
        _ => None,
    };
    String::from_utf8(digits.as_bytes().chunks(2).map(byte).collect::<Option<_>>()?).ok()
}

/// An object, to be read.
pub(crate) fn open(bucket: &Bucket, key: &str) -> Result<Option<StoredUpload>, FilesError> {
    let opened = bucket.find(key).and_then(|found| {
        let Some(stored) = found else { return Ok(None) };
        let size = stored.bytes;
        let content = Box::new(Pieces::open(bucket, vec![stored])?);
        Ok(Some(StoredUpload { size, content }))
    });
    opened.map_err(|error| error.into_files_error("a file could not be read"))
}
