//! The port to the stored variables.

use super::{Variable, VariableKey};
use crate::id::{ProjectId, VariableId};
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;
use crate::ports::vault::Sealed;

/// The variables of all projects.
pub trait Variables {
    /// Returns a page of the variables of a project, oldest first.
    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<Variable>, StoreError>;

    /// Returns the variable with exactly this name.
    fn find(&mut self, project: ProjectId, key: &str) -> Result<Option<Variable>, StoreError>;

    /// Creates a variable.
    /// # Errors
    /// [`StoreError::Duplicate`]`("key")` when the project already has a variable with this name.
    fn insert(
        &mut self,
        project: ProjectId,
        key: &VariableKey,
        value: &Sealed,
    ) -> Result<Variable, StoreError>;

    /// Changes the value of a variable.
    fn update(&mut self, id: VariableId, value: &Sealed) -> Result<(), StoreError>;

    /// Deletes a variable.
    fn delete(&mut self, id: VariableId) -> Result<(), StoreError>;
}
