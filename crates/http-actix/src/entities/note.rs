//! Notes.

use hexforge_application::view::note::NoteView;
use hexforge_domain::Timestamp;
use hexforge_domain::note::Noteable;
use hexforge_domain::user::User;
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Iso;
use super::user::UserSummaryJson;
use hexforge_http_edge::links::Links;

/// A note in a response.
#[derive(Serialize, ToSchema)]
pub struct NoteJson<'a> {
    /// Null if the text had only slash commands, because then no note is stored.
    id: Option<i64>,
    body: &'a str,
    /// Always null. The text names the files.
    attachment: Option<&'a str>,
    author: UserSummaryJson<'a>,
    created_at: Iso,
    updated_at: Iso,
    system: bool,
    /// Null for a note on a commit.
    noteable_id: Option<i64>,
    noteable_type: &'static str,
    upvote: bool,
    downvote: bool,
}

impl<'a> NoteJson<'a> {
    /// The note, with URLs built by `links`.
    pub fn new(view: &'a NoteView, links: &'a Links) -> Self {
        let note = &view.note;
        Self {
            id: Some(note.id.0),
            body: note.body.as_str(),
            attachment: None,
            author: UserSummaryJson::new(&view.author, links),
            created_at: Iso(note.created_at),
            updated_at: Iso(note.updated_at),
            system: note.system,
            noteable_id: note.on.id(),
            noteable_type: note.on.type_name(),
            upvote: false,
            downvote: false,
        }
    }

    /// The response to a note that contained only slash commands; no such note is stored.
    pub fn of_commands(on: Noteable, user: &'a User, at: Timestamp, links: &'a Links) -> Self {
        Self {
            id: None,
            body: "Your commands have been executed!",
            attachment: None,
            author: UserSummaryJson::new(user, links),
            created_at: Iso(at),
            updated_at: Iso(at),
            system: false,
            noteable_id: on.id(),
            noteable_type: on.type_name(),
            upvote: false,
            downvote: false,
        }
    }
}
