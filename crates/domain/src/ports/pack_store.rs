//! The port to the pack store.

use std::io;
use std::path::{Path, PathBuf};

use crate::Timestamp;
use crate::pack::{Pack, PackName};
use crate::ports::files::is_storage_full;
use crate::ports::git_error::GitError;

/// Stores packs under the SHA-256 of their bytes. A stored pack never changes. Rows record which repositories use it,
/// see [`Packs`](crate::pack::port::Packs).
pub trait PackStore: Send + Sync {
    /// Stores a pack with its index under the SHA-256 of its bytes, and syncs both to disk. `objects` is the number of
    /// objects in the pack. The store may hard-link the two files, so the caller must not change them afterwards. Can
    /// be repeated.
    fn put(&self, data: &Path, index: &Path, objects: u64) -> Result<Pack, PackError>;

    /// The path of a pack on this machine. The index is beside it, with the extension `idx`. The pack's bytes match its
    /// name.
    fn local_path(&self, pack: &Pack) -> Result<PathBuf, PackError>;

    /// The time at which a pack was stored; `None` when the pack or its index is not stored.
    fn stored_at(&self, name: PackName) -> Result<Option<Timestamp>, PackError>;

    /// Calls `visit` with the name and storage time of each stored pack, in no particular order, until `visit` fails.
    /// Also visits the remains of packs whose removal was interrupted, so that they are removed too.
    fn for_each_pack(
        &self,
        visit: &mut dyn FnMut(PackName, Timestamp) -> Result<(), PackError>,
    ) -> Result<(), PackError>;

    /// Removes a pack, its index and its summary; does nothing when the pack is missing.
    fn remove(&self, name: PackName) -> Result<(), PackError>;

    /// Stores the summary of a stored pack, or replaces it. A summary is derived from the pack, so it is not synced and
    /// may be lost at any time. Does nothing when the pack is missing.
    fn put_summary(&self, name: PackName, summary: &[u8]) -> Result<(), PackError>;

    /// The summary of a pack; `None` when the store has none. The store does not check its content.
    fn summary(&self, name: PackName) -> Result<Option<Vec<u8>>, PackError>;
}

/// Why a pack could not be stored or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackError {
    /// The pack is not stored, although it should be.
    #[error("the pack {0} is missing")]
    Missing(PackName),
    /// The SHA-256 or the length of the stored pack is wrong.
    #[error("the pack {0} is damaged: {1}")]
    Damaged(PackName, String),
    /// The storage is full. Writing works again as soon as there is room.
    #[error("the storage of packs is full: {0}")]
    Full(String),
    /// The pack store does not respond. A later attempt may succeed.
    #[error("the pack store does not answer: {0}")]
    Unreachable(String),
    /// Anything else.
    #[error("packs cannot be stored or read: {0}")]
    Failed(String),
}

impl From<io::Error> for PackError {
    fn from(error: io::Error) -> Self {
        let make = if is_storage_full(&error) { Self::Full } else { Self::Failed };
        make(error.to_string())
    }
}

impl From<PackError> for GitError {
    fn from(error: PackError) -> Self {
        let text = error.to_string();
        match error {
            PackError::Missing(_) | PackError::Damaged(..) => GitError::Corrupt(text),
            PackError::Full(_) => GitError::Full(text),
            PackError::Unreachable(_) => GitError::Unreachable(text),
            PackError::Failed(_) => GitError::Failed(text),
        }
    }
}
