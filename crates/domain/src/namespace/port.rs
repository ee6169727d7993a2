//! The port to the stored namespaces.

use super::{Namespace, NamespacePath};
use crate::id::UserId;
use crate::ports::store::StoreError;

/// The namespaces of all users and groups.
pub trait Namespaces {
    /// The namespace of that path, ignoring case.
    fn find_by_path(&mut self, path: &NamespacePath) -> Result<Option<Namespace>, StoreError>;

    /// Makes the personal namespace of a user, with path and name alike.
    /// # Errors
    /// [`StoreError::Duplicate`]`("path")` when a user or group has that path, ignoring case.
    fn insert_personal(&mut self, owner: UserId, path: &NamespacePath) -> Result<(), StoreError>;

    /// Gives the personal namespace of a user another path and name.
    /// # Errors
    /// [`StoreError::Duplicate`]`("path")` when somebody else has that path, ignoring case.
    fn rename_personal(&mut self, owner: UserId, path: &NamespacePath) -> Result<(), StoreError>;
}
