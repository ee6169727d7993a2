//! The port to the stored variables.

use super::{Variable, VariableKey};
use crate::id::{ProjectId, VariableId};
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;
use crate::ports::vault::Sealed;

/// The variables of all projects.
pub trait Variables {
    /// Variables of a project, oldest first.
    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<Variable>, StoreError>;

    /// The variable of exactly that name.
    fn find(&mut self, project: ProjectId, key: &str) -> Result<Option<Variable>, StoreError>;

    /// Makes a variable.
    /// # Errors
    /// [`StoreError::Duplicate`]`("key")` when the project has one of that name.
    fn insert(
        &mut self,
        project: ProjectId,
        key: &VariableKey,
        value: &Sealed,
    ) -> Result<Variable, StoreError>;

    /// Gives a variable another value.
    fn update(&mut self, id: VariableId, value: &Sealed) -> Result<(), StoreError>;

    /// Removes a variable.
    fn delete(&mut self, id: VariableId) -> Result<(), StoreError>;
}
