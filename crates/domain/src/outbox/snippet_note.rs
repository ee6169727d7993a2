//! Events of notes on snippets, for project hooks.

use super::parts::{Person, ProjectCard};
use super::project::NoteRow;
use crate::Timestamp;
use crate::id::{ProjectId, SnippetId, UserId};
use crate::snippet::Snippet;
use crate::visibility::Visibility;

/// A new note of a user on a snippet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnippetNoteEvent {
    /// The author of the note.
    pub user: Person,
    /// The project.
    pub project: ProjectCard,
    /// The note.
    pub note: NoteRow,
    /// The snippet.
    pub snippet: SnippetRow,
}

/// The data of a snippet in hook payloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnippetRow {
    /// See [`Snippet::id`].
    pub id: SnippetId,
    /// See [`Snippet::title`].
    pub title: String,
    /// The text of the file.
    pub content: String,
    /// See [`Snippet::author`].
    pub author: UserId,
    /// See [`Snippet::project`].
    pub project: Option<ProjectId>,
    /// See [`Snippet::created_at`].
    pub created_at: Timestamp,
    /// See [`Snippet::updated_at`].
    pub updated_at: Timestamp,
    /// See [`Snippet::file_name`].
    pub file_name: String,
    /// See [`Snippet::visibility`].
    pub visibility: Visibility,
}

impl SnippetRow {
    /// Combines a snippet and its content.
    pub fn new(snippet: &Snippet, content: String) -> Self {
        Self {
            id: snippet.id,
            title: snippet.title.as_str().to_owned(),
            content,
            author: snippet.author,
            project: snippet.project,
            created_at: snippet.created_at,
            updated_at: snippet.updated_at,
            file_name: snippet.file_name.as_str().to_owned(),
            visibility: snippet.visibility,
        }
    }
}
