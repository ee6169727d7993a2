//! The port to deploy keys.

use chrono::NaiveDate;

use super::DeployKey;
use crate::Timestamp;
use crate::id::{KeyId, ProjectId, UserId};
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;
use crate::user::key::{Fingerprint, NewSshKey};

/// The deploy keys of all projects.
pub trait DeployKeys {
    /// All deploy keys, newest first.
    fn all(&mut self, page: Page) -> Result<Paged<DeployKey>, StoreError>;

    /// The deploy keys of a project, newest first.
    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<DeployKey>, StoreError>;

    /// The deploy key with this id, if the project has it.
    fn find(&mut self, project: ProjectId, id: KeyId) -> Result<Option<DeployKey>, StoreError>;

    /// The deploy key with this id, of any project.
    fn find_by_id(&mut self, id: KeyId) -> Result<Option<DeployKey>, StoreError>;

    /// The deploy key with this fingerprint, of any project.
    fn find_by_fingerprint(
        &mut self,
        fingerprint: &Fingerprint,
    ) -> Result<Option<DeployKey>, StoreError>;

    /// Returns whether a project that the user is authorized for has the key; see
    /// [`ProjectScope`](crate::project::query::ProjectScope).
    fn is_reachable(
        &mut self,
        id: KeyId,
        user: UserId,
        today: NaiveDate,
    ) -> Result<bool, StoreError>;

    /// Registers a deploy key that no project has yet.
    /// # Errors
    /// [`StoreError::Duplicate`]`("fingerprint")` when a user or a project has registered the key.
    fn insert(&mut self, new: NewSshKey, at: Timestamp) -> Result<DeployKey, StoreError>;

    /// Gives the key to a project. Does nothing if the project has it.
    /// # Errors
    /// [`StoreError::Gone`] when the key or the project does not exist.
    fn attach(&mut self, id: KeyId, project: ProjectId) -> Result<(), StoreError>;

    /// Takes the key from a project, and deletes it if no other project has it. Returns whether it was deleted.
    fn detach(&mut self, id: KeyId, project: ProjectId) -> Result<bool, StoreError>;
}
