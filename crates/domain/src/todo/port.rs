//! The port to the stored todos.

use super::{MarkedTodos, NewTodo, Todo, TodoFilter};
use crate::id::{ProjectId, TodoId, UserId};
use crate::note::Noteable;
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;

/// The todos of all users. A user has at most one pending todo for a target. Todos are deleted together with their
/// target, their note, their project, their user and their author.
pub trait Todos {
    /// Returns a page of the todos that match the filter, newest first.
    fn list(&mut self, filter: &TodoFilter, page: Page) -> Result<Paged<Todo>, StoreError>;

    /// Returns the pending todo of a user for a target.
    fn find_pending(&mut self, user: UserId, target: Noteable) -> Result<Option<Todo>, StoreError>;

    /// Creates pending todos. Those for a user who has a pending todo for the same target are left out.
    /// # Errors
    /// [`StoreError::Gone`] when a user, a target or a note does not exist.
    fn insert(&mut self, new: &[NewTodo]) -> Result<(), StoreError>;

    /// Marks the pending todo of a user for a target as done, if there is one.
    fn mark_done(&mut self, user: UserId, target: Noteable) -> Result<(), StoreError>;

    /// Marks at most `limit` pending todos that match the filter as done: those with the lowest ids after `after`. Todos
    /// that are done already do not count.
    fn mark_matching_done(
        &mut self,
        filter: &TodoFilter,
        after: Option<TodoId>,
        limit: u32,
    ) -> Result<MarkedTodos, StoreError>;

    /// Deletes all todos of a user in a project.
    fn delete_in_project(&mut self, user: UserId, project: ProjectId) -> Result<(), StoreError>;
}
