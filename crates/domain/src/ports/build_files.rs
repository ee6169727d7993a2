//! The port to the logs and artifacts of builds.

use super::files::{FilesError, ProjectFiles};
use super::uploads::{NewUpload, StoredUpload};
use crate::id::{BuildId, ProjectId};

/// Keeps what builds leave behind. Whoever changes a file of a build holds the build in a transaction.
pub trait BuildFiles: ProjectFiles {
    /// The length of a log in bytes; 0 when there is none.
    fn trace_size(&self, project: ProjectId, build: BuildId) -> Result<u64, FilesError>;

    /// A log as it is now.
    fn open_trace(
        &self,
        project: ProjectId,
        build: BuildId,
    ) -> Result<Option<StoredUpload>, FilesError>;

    /// The last bytes of a log, at most so many.
    fn trace_tail(
        &self,
        project: ProjectId,
        build: BuildId,
        bytes: u64,
    ) -> Result<Vec<u8>, FilesError>;

    /// Adds to the end of a log; what is there beyond `at`, which an interrupted call may have left, goes.
    fn append_trace(
        &self,
        project: ProjectId,
        build: BuildId,
        at: u64,
        chunk: &[u8],
    ) -> Result<(), FilesError>;

    /// Puts another log in the place of what is there, all of it at once.
    fn replace_trace(
        &self,
        project: ProjectId,
        build: BuildId,
        content: &[u8],
    ) -> Result<(), FilesError>;

    /// Begins the artifacts of a build. Nobody sees them before they are finished; then they are in the place
    /// of those that were there.
    fn begin_artifacts(
        &self,
        project: ProjectId,
        build: BuildId,
    ) -> Result<Box<dyn NewUpload>, FilesError>;

    /// The artifacts of a build.
    fn open_artifacts(
        &self,
        project: ProjectId,
        build: BuildId,
    ) -> Result<Option<StoredUpload>, FilesError>;

    /// Removes a log, if there is one.
    fn remove_trace(&self, project: ProjectId, build: BuildId) -> Result<(), FilesError>;

    /// Removes artifacts, if there are any.
    fn remove_artifacts(&self, project: ProjectId, build: BuildId) -> Result<(), FilesError>;
}
