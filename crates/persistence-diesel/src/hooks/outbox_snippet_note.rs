//! The JSON form of notes on snippets in the outbox.

use hexforge_domain::Timestamp;
use hexforge_domain::id::{ProjectId, SnippetId, UserId};
use hexforge_domain::outbox::project::{NoteRow, Person, ProjectCard};
use hexforge_domain::outbox::snippet_note::{SnippetNoteEvent, SnippetRow};
use hexforge_domain::visibility::Visibility;

use crate::database::json::stored;

stored! {
    SnippetNoteEvent {
        user: Person,
        project: ProjectCard,
        note: NoteRow,
        snippet: SnippetRow,
    }

    SnippetRow {
        id: SnippetId,
        title: String,
        content: String,
        #[serde(rename = "author_id")] author: UserId,
        #[serde(rename = "project_id", default)] project: Option<ProjectId>,
        created_at: Timestamp,
        updated_at: Timestamp,
        file_name: String,
        #[serde(rename = "visibility_level")] visibility: Visibility,
    }
}
