//! What all ports to files of projects have in common.

use std::error::Error;

use crate::id::ProjectId;

/// Keeps files of projects, which no transaction covers. They are removed after the commit that removed
/// the project; what an interrupted removal left is found at the next start, because ids of projects are
/// never used again.
pub trait ProjectFiles: Send + Sync {
    /// The projects of which something is kept, in no particular order. Where files are made before the
    /// row of their project is committed, those too young to be sure of are left out.
    fn projects(&self) -> Result<Box<dyn Iterator<Item = ProjectId>>, FilesError>;

    /// Removes everything of a project. From the answer on nothing of it is found; what takes long is
    /// done in the background. Without anything of the project there is nothing to do. It does not fail:
    /// what cannot be removed now is told to whoever runs the program, and tried again at the next start.
    fn discard(&self, project: ProjectId);

    /// Finishes what an earlier run was interrupted in. Called at the start and then daily; it may take long.
    fn tidy(&self) -> Result<(), FilesError>;
}

/// Files could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct FilesError(pub String, #[source] pub Box<dyn Error + Send + Sync>);
