//! The port to repositories on other servers.

use crate::pack::Pack;
use crate::refs::Ref;

/// Fetches repositories from other servers.
pub trait Imports: Send + Sync {
    /// Fetches the repository at a URL: stores all its objects as packs, syncs them to disk, and returns its branches,
    /// tags and HEAD. The URL may contain a user name and a password; error texts never do. Can be repeated.
    fn fetch(&self, url: &str) -> Result<Imported, ImportError>;

    /// Aborts running fetches as soon as possible and refuses new ones, because the server shuts down. An aborted fetch
    /// may succeed later.
    fn stop(&self);
}

/// The refs and packs of an imported repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// The full name of the branch to which HEAD points.
    pub head: Option<String>,
    /// All branches and tags, by name.
    pub refs: Vec<Ref>,
    /// The stored packs with the objects of the repository.
    pub packs: Vec<Pack>,
}

/// Why a repository could not be fetched. The text is for the user who requested the import.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// A later attempt will not succeed either: the URL is not allowed, the repository does not exist, or access is
    /// denied.
    #[error("{0}")]
    Refused(String),
    /// A later attempt may succeed.
    #[error("{0}")]
    Failed(String),
}
