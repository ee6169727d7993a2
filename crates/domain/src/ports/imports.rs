//! The port to repositories that are elsewhere.

use crate::id::ProjectId;

/// Fetches repositories from elsewhere.
pub trait Imports: Send + Sync {
    /// Puts all branches and tags of the repository at an address into that of a project, which is empty, all
    /// at once. The address may carry a user name and a password; no error does. May be done again after it
    /// succeeded: then nothing happens.
    fn fetch(&self, project: ProjectId, url: &str) -> Result<(), ImportError>;

    /// Ends what is being fetched as soon as possible, and fetches nothing any more: the server stops. What
    /// is ended so may succeed later.
    fn stop(&self);
}

/// Why a repository could not be fetched; the text is for whoever asked for it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// It will not succeed later either: the address is not allowed, there is nothing, access is denied.
    #[error("{0}")]
    Refused(String),
    /// It may succeed later.
    #[error("{0}")]
    Failed(String),
}
