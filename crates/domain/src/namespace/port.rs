//! The port to the stored namespaces.

use chrono::NaiveDate;

use super::{Namespace, NamespacePath};
use crate::Timestamp;
use crate::id::{NamespaceId, UserId};
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;

/// The namespaces of all users and groups.
pub trait Namespaces {
    /// The namespace of that id.
    fn find(&mut self, id: NamespaceId) -> Result<Option<Namespace>, StoreError>;

    /// The namespaces of these ids, in no particular order.
    fn find_all(&mut self, ids: &[NamespaceId]) -> Result<Vec<Namespace>, StoreError>;

    /// The namespace of that path, ignoring case.
    fn find_by_path(&mut self, path: &NamespacePath) -> Result<Option<Namespace>, StoreError>;

    /// The namespace of exactly that name, the oldest where several have it.
    fn find_by_name(&mut self, name: &str) -> Result<Option<Namespace>, StoreError>;

    /// What a caller means who names a target: an id, else a path, else a name, the oldest where several
    /// have it; both ignoring case.
    fn find_target(&mut self, named: &str) -> Result<Option<Namespace>, StoreError>;

    /// The personal namespace of a user.
    fn personal(&mut self, owner: UserId) -> Result<Option<Namespace>, StoreError>;

    /// Namespaces whose name or path contains `search`, if given, ignoring case; highest id first. With
    /// a user and a day, only its own and those of groups of which it is a member on that day.
    fn list(
        &mut self,
        of: Option<(UserId, NaiveDate)>,
        search: Option<&str>,
        page: Page,
    ) -> Result<Paged<Namespace>, StoreError>;

    /// Makes the personal namespace of a user, with path and name alike.
    /// # Errors
    /// [`StoreError::Duplicate`]`("path")` when a user or group has that path, ignoring case.
    fn insert_personal(
        &mut self,
        owner: UserId,
        path: &NamespacePath,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Gives the personal namespace of a user another path and name.
    /// # Errors
    /// [`StoreError::Duplicate`]`("path")` when somebody else has that path, ignoring case.
    fn rename_personal(
        &mut self,
        owner: UserId,
        path: &NamespacePath,
        at: Timestamp,
    ) -> Result<(), StoreError>;
}
