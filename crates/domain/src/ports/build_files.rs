//! The port to the logs and artifacts of builds.

use super::files::{FilesError, ProjectFiles};
use super::uploads::{NewFile, StoredFile};
use crate::id::{BuildId, ProjectId};

/// Stores the logs and artifacts of builds. Before a caller changes a file of a build, it locks the pipeline of the
/// build in a transaction. Only the replacement of a log needs no lock; its caller checks afterwards that the build was
/// not erased meanwhile.
pub trait BuildFiles: ProjectFiles {
    /// The length of the log in bytes; 0 when the build has no log.
    fn trace_size(&self, project: ProjectId, build: BuildId) -> Result<u64, FilesError>;

    /// Opens the log as it is now; `None` when the build has no log.
    fn open_trace(
        &self,
        project: ProjectId,
        build: BuildId,
    ) -> Result<Option<StoredFile>, FilesError>;

    /// The last `bytes` bytes of the log, or all of it when it is shorter.
    fn trace_tail(
        &self,
        project: ProjectId,
        build: BuildId,
        bytes: u64,
    ) -> Result<Vec<u8>, FilesError>;

    /// Appends `chunk` to the log at the offset `at`. Bytes beyond `at`, which an interrupted call may have left, are
    /// removed.
    fn append_trace(
        &self,
        project: ProjectId,
        build: BuildId,
        at: u64,
        chunk: &[u8],
    ) -> Result<(), FilesError>;

    /// Replaces the whole log atomically.
    fn replace_trace(
        &self,
        project: ProjectId,
        build: BuildId,
        content: &[u8],
    ) -> Result<(), FilesError>;

    /// Begins an upload of artifacts. They are invisible until the upload is finished, and then replace the earlier
    /// artifacts of the build.
    fn begin_artifacts(
        &self,
        project: ProjectId,
        build: BuildId,
    ) -> Result<Box<dyn NewFile>, FilesError>;

    /// Opens the artifacts of a build; `None` when it has none.
    fn open_artifacts(
        &self,
        project: ProjectId,
        build: BuildId,
    ) -> Result<Option<StoredFile>, FilesError>;

    /// Removes the log, if there is one.
    fn remove_trace(&self, project: ProjectId, build: BuildId) -> Result<(), FilesError>;

    /// Removes the artifacts, if there are any.
    fn remove_artifacts(&self, project: ProjectId, build: BuildId) -> Result<(), FilesError>;
}
