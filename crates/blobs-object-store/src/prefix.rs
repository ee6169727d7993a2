//! Common operations on files of projects in an object store.

use std::path::{Path, PathBuf};

use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::files::FilesError;

use crate::bucket::Bucket;

/// The files of projects below one prefix.
#[derive(Clone)]
pub(crate) struct ProjectPrefix {
    pub(crate) bucket: Bucket,
    prefix: &'static str,
    /// The local folder in which uploads are received.
    pub(crate) scratch: PathBuf,
}

impl ProjectPrefix {
    pub(crate) fn new(bucket: Bucket, prefix: &'static str, scratch: &Path) -> Self {
        Self { bucket, prefix, scratch: scratch.to_owned() }
    }

    /// The prefix of a project's files.
    pub(crate) fn project_key(&self, project: ProjectId) -> String {
        format!("{}/{}", self.prefix, project.0)
    }

    /// Lists the projects that have objects below this prefix.
    pub(crate) fn projects(&self) -> Result<Box<dyn Iterator<Item = ProjectId>>, FilesError> {
        let found = self.bucket.folders(self.prefix);
        let found = found.map_err(|error| error.into_files_error("files cannot be listed"))?;
        Ok(Box::new(found.into_iter().filter_map(|name| name.parse().ok().map(ProjectId))))
    }

    /// Removes all files of a project.
    pub(crate) fn remove_project(&self, project: ProjectId) {
        if let Err(error) = self.remove_below(&self.project_key(project)) {
            tracing::warn!(
                %project,
                %error,
                "files of a removed project could not be removed; the next start tries again"
            );
        }
    }

    /// Removes all objects below a prefix.
    pub(crate) fn remove_below(&self, prefix: &str) -> Result<(), FilesError> {
        let removed = self.bucket.list(prefix).and_then(|found| {
            let keys = found.into_iter().map(|stored| stored.key).collect();
            self.bucket.remove(keys)
        });
        removed.map_err(|error| error.into_files_error("a file could not be removed"))
    }
}
