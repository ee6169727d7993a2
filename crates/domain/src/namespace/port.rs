//! The port to the stored namespaces.

use chrono::NaiveDate;

use super::{Namespace, NamespacePath};
use crate::Timestamp;
use crate::id::{NamespaceId, UserId};
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;

/// The namespaces of all users and groups.
pub trait Namespaces {
    /// Returns the namespace with this id.
    fn find(&mut self, id: NamespaceId) -> Result<Option<Namespace>, StoreError>;

    /// Returns the namespaces with these ids, in no particular order.
    fn find_all(&mut self, ids: &[NamespaceId]) -> Result<Vec<Namespace>, StoreError>;

    /// Returns the namespace with this path, ignoring case.
    fn find_by_path(&mut self, path: &NamespacePath) -> Result<Option<Namespace>, StoreError>;

    /// Returns the namespace with exactly this name; if several have it, the oldest.
    fn find_by_name(&mut self, name: &str) -> Result<Option<Namespace>, StoreError>;

    /// Finds the target namespace that a request names. The text is tried as an id, then as a path,
    /// then as a name; if several have the name, the oldest is returned. Path and name are compared
    /// ignoring case.
    fn find_target(&mut self, text: &str) -> Result<Option<Namespace>, StoreError>;

    /// Returns the personal namespace of a user.
    fn personal(&mut self, owner: UserId) -> Result<Option<Namespace>, StoreError>;

    /// Returns a page of namespaces, highest id first. With `search`, only those whose name or path
    /// contains it, ignoring case. With `member`, only the personal namespace of the user
    /// and the groups of which the user is a member on that date.
    fn list(
        &mut self,
        member: Option<(UserId, NaiveDate)>,
        search: Option<&str>,
        page: Page,
    ) -> Result<Paged<Namespace>, StoreError>;

    /// Creates the personal namespace of a user. Path and name are the same.
    /// # Errors
    /// [`StoreError::Duplicate`]`("path")` when a user or group already has the path, ignoring
    /// case.
    fn insert_personal(
        &mut self,
        owner: UserId,
        path: &NamespacePath,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Changes path and name of the personal namespace of a user.
    /// # Errors
    /// [`StoreError::Duplicate`]`("path")` when another user or group has the path, ignoring case.
    fn rename_personal(
        &mut self,
        owner: UserId,
        path: &NamespacePath,
        at: Timestamp,
    ) -> Result<(), StoreError>;
}
