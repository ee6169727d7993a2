//! Comments on commits.

use hexforge_application::view::note::NoteView;
use hexforge_domain::note::{NoteLine, NotePosition};
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Iso;
use super::user::UserSummaryJson;
use hexforge_http_edge::links::Links;

/// A comment in a response. It has no id.
#[derive(Serialize, ToSchema)]
pub struct CommentJson<'a> {
    note: &'a str,
    /// Null if the comment is on the whole commit.
    path: Option<&'a str>,
    /// The number of an added line; null for a removed line.
    line: Option<u32>,
    line_type: Option<&'static str>,
    author: UserSummaryJson<'a>,
    created_at: Iso,
}

impl<'a> CommentJson<'a> {
    /// The comment, with URLs built by `links`.
    pub fn new(view: &'a NoteView, links: &'a Links) -> Self {
        let position = view.note.position.as_ref();
        let line = position.map(|NotePosition { line, .. }| *line);
        Self {
            note: view.note.body.as_str(),
            path: position.map(|NotePosition { path, .. }| path.as_str()),
            line: line.and_then(NoteLine::number),
            line_type: line.map(NoteLine::type_name),
            author: UserSummaryJson::new(&view.author, links),
            created_at: Iso(view.note.created_at),
        }
    }
}
