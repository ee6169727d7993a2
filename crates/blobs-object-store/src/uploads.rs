//! Stores uploaded files in an object store.

use std::path::Path;

use hexforge_domain::hex;
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::files::{FilesError, ProjectFiles};
use hexforge_domain::ports::uploads::{NewFile, StoredFile, Uploads};
use hexforge_domain::project::upload::{UploadKey, UploadName, UploadSecret};

use crate::bucket::Bucket;
use crate::prefix::ProjectPrefix;
use crate::read::ObjectReader;
use crate::receive::PendingUpload;

/// The number of name bytes per segment of a key. File systems limit the length of a segment.
const NAME_PART: usize = 100;

/// Stores uploaded files in an object store.
pub struct BucketUploads(ProjectPrefix);

impl BucketUploads {
    /// The uploaded files in an object store. Uploads are received in the folder `scratch`.
    pub fn new(bucket: Bucket, scratch: &Path) -> Self {
        Self(ProjectPrefix::new(bucket, "uploads", scratch))
    }

    /// Calls `visit` for each file of a project until `visit` fails.
    pub fn each<E: From<FilesError>>(
        &self,
        project: ProjectId,
        visit: &mut dyn FnMut(UploadKey, StoredFile) -> Result<(), E>,
    ) -> Result<(), E> {
        let found = self.0.bucket.list(&self.0.project_key(project));
        for stored in found.map_err(|error| error.into_files_error("files cannot be listed"))? {
            let Some((secret, name)) = self.parse_key(project, &stored.key) else { continue };
            let upload = UploadKey { project, secret, name: UploadName::from_client(&name) };
            // The file may have been removed meanwhile.
            if let Some(file) = open_object(&self.0.bucket, &stored.key)? {
                visit(upload, file)?;
            }
        }
        Ok(())
    }

    fn key(&self, upload: &UploadKey) -> String {
        let mut key = format!("{}/{}", self.0.project_key(upload.project), upload.secret.as_str());
        for part in upload.name.as_str().as_bytes().chunks(NAME_PART) {
            key.push('/');
            key.push_str(&hex::encode(part));
        }
        key
    }

    /// Parses the secret and the name from the key of a file.
    fn parse_key(&self, project: ProjectId, key: &str) -> Option<(UploadSecret, String)> {
        let rest = key.strip_prefix(&self.0.project_key(project))?.strip_prefix('/')?;
        let (secret, name) = rest.split_once('/')?;
        let name = String::from_utf8(hex::decode(&name.replace('/', ""))?).ok()?;
        Some((UploadSecret::parse(secret)?, name))
    }
}

impl ProjectFiles for BucketUploads {
    fn projects(&self) -> Result<Box<dyn Iterator<Item = ProjectId>>, FilesError> {
        self.0.projects()
    }

    fn remove_project(&self, project: ProjectId) {
        self.0.remove_project(project);
    }

    fn remove_leftovers(&self) -> Result<(), FilesError> {
        // Unfinished uploads are local files, not objects, so there is nothing to remove.
        Ok(())
    }
}

impl Uploads for BucketUploads {
    fn begin(&self, upload: &UploadKey) -> Result<Box<dyn NewFile>, FilesError> {
        let upload = PendingUpload::begin(&self.0.bucket, &self.0.scratch, self.key(upload))?;
        Ok(Box::new(upload))
    }

    fn open(&self, upload: &UploadKey) -> Result<Option<StoredFile>, FilesError> {
        open_object(&self.0.bucket, &self.key(upload))
    }
}

/// Opens an object for reading. Returns `None` if it does not exist.
pub(crate) fn open_object(bucket: &Bucket, key: &str) -> Result<Option<StoredFile>, FilesError> {
    let opened = bucket.find(key).and_then(|found| {
        let Some(stored) = found else { return Ok(None) };
        let size = stored.bytes;
        let content = Box::new(ObjectReader::open(bucket, vec![stored])?);
        Ok(Some(StoredFile { size, content }))
    });
    opened.map_err(|error| error.into_files_error("a file could not be read"))
}
