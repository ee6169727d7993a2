//! Notes.

use hexforge_application::view::note::NoteView;
use serde::Serialize;

use super::links::Links;
use super::time::Iso;
use super::user::UserJson;

/// A note as an answer shows it.
#[derive(Serialize)]
pub struct NoteJson<'a> {
    id: i64,
    body: &'a str,
    /// Always null: files are named in the text.
    attachment: Option<&'a str>,
    author: UserJson<'a>,
    created_at: Iso,
    updated_at: Iso,
    system: bool,
    noteable_id: i64,
    noteable_type: &'static str,
    upvote: bool,
    downvote: bool,
}

impl<'a> NoteJson<'a> {
    /// The note as seen below this address.
    pub fn new(view: &'a NoteView, links: &'a Links) -> Self {
        let note = &view.note;
        Self {
            id: note.id.0,
            body: note.body.as_str(),
            attachment: None,
            author: UserJson::summary(&view.author, links),
            created_at: Iso(note.created_at),
            updated_at: Iso(note.updated_at),
            system: note.system,
            noteable_id: note.issue.0,
            noteable_type: "Issue",
            upvote: false,
            downvote: false,
        }
    }
}
