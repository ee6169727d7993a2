//! The port to repositories that are elsewhere.

use crate::pack::Pack;
use crate::refs::Ref;

/// Fetches repositories from elsewhere.
pub trait Imports: Send + Sync {
    /// Stores all objects of the repository at an address as packs, synced, and returns its branches, tags and HEAD.
    /// The address may carry a user name and a password; no error does. May be done again.
    fn fetch(&self, url: &str) -> Result<Imported, ImportError>;

    /// Ends what is being fetched as soon as possible, and fetches nothing any more: the server stops. What
    /// is ended so may succeed later.
    fn stop(&self);
}

/// The refs of an imported repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// The whole name of the branch for which HEAD stands.
    pub head: Option<String>,
    /// All branches and tags, by name.
    pub refs: Vec<Ref>,
    /// The stored packs with its objects.
    pub packs: Vec<Pack>,
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
