//! Fake of the storage of uploaded files.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::sync::{Arc, Mutex, MutexGuard};

use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::files::{FilesError, ProjectFiles};
use hexforge_domain::ports::uploads::{NewFile, StoredFile, Uploads};
use hexforge_domain::project::upload::UploadKey;

type Files = BTreeMap<UploadKey, Vec<u8>>;

/// Stores files in memory. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct FakeUploads(Arc<Mutex<Files>>);

impl FakeUploads {
    fn files(&self) -> MutexGuard<'_, Files> {
        self.0.lock().expect("no test panics while it holds the files")
    }
}

impl ProjectFiles for FakeUploads {
    fn projects(&self) -> Result<Box<dyn Iterator<Item = ProjectId>>, FilesError> {
        let projects: BTreeSet<_> = self.files().keys().map(|key| key.project).collect();
        Ok(Box::new(projects.into_iter()))
    }

    fn remove_project(&self, project: ProjectId) {
        self.files().retain(|key, _| key.project != project);
    }

    fn remove_leftovers(&self) -> Result<(), FilesError> {
        Ok(())
    }
}

impl Uploads for FakeUploads {
    fn begin(&self, key: &UploadKey) -> Result<Box<dyn NewFile>, FilesError> {
        let (files, key) = (self.clone(), key.clone());
        Ok(Box::new(Receiving { files, key, content: Vec::new() }))
    }

    fn open(&self, key: &UploadKey) -> Result<Option<StoredFile>, FilesError> {
        let found = self.files().get(key).cloned();
        Ok(found.map(|content| StoredFile {
            size: content.len() as u64,
            content: Box::new(Cursor::new(content)),
        }))
    }
}

struct Receiving {
    files: FakeUploads,
    key: UploadKey,
    content: Vec<u8>,
}

impl NewFile for Receiving {
    fn append(&mut self, chunk: &[u8]) -> Result<(), FilesError> {
        self.content.extend_from_slice(chunk);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), FilesError> {
        self.files.files().insert(self.key, self.content);
        Ok(())
    }
}
