//! The port to the stored snippets.

use super::{NewSnippet, Snippet};
use crate::id::{ProjectId, SnippetId, UserId};
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;
use crate::text::LongText;
use crate::visibility::Visibility;

/// The snippets of all projects and users. Lists leave out snippets of removed authors. The caller locks the project
/// before it changes a snippet of a project.
pub trait Snippets {
    /// The snippets of a project with at least this visibility level, newest first.
    fn of_project(
        &mut self,
        project: ProjectId,
        lowest: Visibility,
        page: Page,
    ) -> Result<Paged<Snippet>, StoreError>;

    /// The personal snippets of a user, newest first.
    fn personal(&mut self, author: UserId, page: Page) -> Result<Paged<Snippet>, StoreError>;

    /// The public personal snippets of all users, newest first.
    fn public(&mut self, page: Page) -> Result<Paged<Snippet>, StoreError>;

    /// The snippet with this id, of any project or user.
    fn find(&mut self, id: SnippetId) -> Result<Option<Snippet>, StoreError>;

    /// The content of a snippet.
    fn content(&mut self, id: SnippetId) -> Result<Option<LongText>, StoreError>;

    /// Creates a snippet.
    fn insert(&mut self, new: NewSnippet) -> Result<Snippet, StoreError>;

    /// Stores title, file name, visibility and update time, and the content if it is given.
    fn update(&mut self, snippet: &Snippet, content: Option<&LongText>) -> Result<(), StoreError>;

    /// Deletes a snippet with its notes and the events about them.
    fn delete(&mut self, id: SnippetId) -> Result<(), StoreError>;
}
